// A contraction in registers: an invocation sums ROWS x COLUMNS elements of the result. Neighbours
// have neighbouring columns, and all of a workgroup the same rows, so that their loads of the left
// operand are one. Without shared memory and barriers: best on CPUs, whose caches do as well, and
// for few rows.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "contraction.glsl"

void main() {
    Task task = find_task();
    if (!task.exists) return;
    uint first_row = task.row_tile * ROWS;
    uint first_column = task.column_tile * COLUMNS * WORKGROUP + gl_LocalInvocationIndex;
    uint row_count = word(ROW_COUNT), column_count = word(COLUMN_COUNT);

    // Beyond the edges the last row and column are computed again, and not stored.
    Row rows[ROWS];
    Column columns[COLUMNS];
    for (uint i = 0; i < ROWS; i++) rows[i] = find_row(task, min(first_row + i, row_count - 1));
    for (uint j = 0; j < COLUMNS; j++)
        columns[j] = find_column(task, min(first_column + j * WORKGROUP, column_count - 1));

    Value total[ROWS][COLUMNS];
    for (uint i = 0; i < ROWS; i++)
        for (uint j = 0; j < COLUMNS; j++) total[i][j] = value_zero();

    uvec2 left = address_word(LEFT), right = address_word(RIGHT);
    InnerAxes axes = find_inner_axes(BLOCKS);
    ivec4 steps = axes.inner.steps;
    uint inner_size = word(INNER_SIZE), block_size = word(BLOCK_SIZE);
    uint height = word(HEIGHT), width = word(WIDTH);
    uint first_block = task.split * word(STEPS_PER_SPLIT);
    uint end_block = min(first_block + word(STEPS_PER_SPLIT), word(STEPS));
    // Steps are blocks of the innermost axis.
    for (uint block = first_block; block < end_block; block++) {
        uint piece;
        ivec4 start = find_outer_offsets(axes, block, piece) + int(piece * block_size) * steps;
        uint length = min(block_size, inner_size - piece * block_size);
        int left_places[ROWS], right_places[COLUMNS], x[COLUMNS];
        for (uint i = 0; i < ROWS; i++) left_places[i] = rows[i].left + start.x;
        for (uint j = 0; j < COLUMNS; j++) {
            right_places[j] = columns[j].right + start.y;
            // The innermost axis has no step of y.
            bool is_inside = uint(columns[j].y + start.z) < height;
            x[j] = is_inside ? columns[j].x + start.w : OUTSIDE;
        }
        Value sum[ROWS][COLUMNS];
        for (uint i = 0; i < ROWS; i++)
            for (uint j = 0; j < COLUMNS; j++) sum[i][j] = value_zero();
        for (uint k = 0; k < length; k++) {
            Value a[ROWS], b[COLUMNS];
            for (uint i = 0; i < ROWS; i++) {
                a[i] = load(left, left_places[i], OPERAND_CODE);
                left_places[i] += steps.x;
            }
            for (uint j = 0; j < COLUMNS; j++) {
                if (WINDOWED) {
                    bool is_inside = uint(x[j]) < width;
                    b[j] = load(right, is_inside ? right_places[j] : 0, OPERAND_CODE);
                    if (!is_inside) b[j] = value_zero();
                    x[j] += steps.w;
                } else {
                    b[j] = load(right, right_places[j], OPERAND_CODE);
                }
                right_places[j] += steps.y;
            }
            for (uint i = 0; i < ROWS; i++)
                for (uint j = 0; j < COLUMNS; j++) multiply_add(sum[i][j], a[i], b[j]);
        }
        for (uint i = 0; i < ROWS; i++)
            for (uint j = 0; j < COLUMNS; j++) total[i][j] = value_add(total[i][j], sum[i][j]);
    }

    for (uint i = 0; i < ROWS; i++) {
        if (first_row + i >= row_count) break;
        for (uint j = 0; j < COLUMNS; j++)
            if (first_column + j * WORKGROUP < column_count)
                store_element(task, rows[i], columns[j], total[i][j]);
    }
}
