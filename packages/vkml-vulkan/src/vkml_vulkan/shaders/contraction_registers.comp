// A contraction in registers: an invocation sums ROWS x COLUMNS elements of the result. Neighbouring
// invocations have neighbouring columns, and all of a workgroup the same rows, so that their loads
// of the left operand are one. Without shared memory and barriers: best on CPUs, whose caches do as
// well, and for few rows.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "contraction.glsl"

// Steps are blocks of the innermost axis.
Inner find_block(uint block, out uint length) {
    uint piece, middle;
    uint outer = divide(divide(block, BLOCKS, piece), MIDDLE_SIZE, middle);
    uint first = piece * word(BLOCK_SIZE);
    length = min(word(BLOCK_SIZE), word(INNER_SIZE) - first);
    Inner found = add_inner(Inner(0, 0, 0, 0), first, INNER_STRIDES);
    return add_inner(add_inner(found, middle, MIDDLE_STRIDES), outer, OUTER_STRIDES);
}

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
    int left_step = int(word(INNER_STRIDES)), right_step = int(word(INNER_STRIDES + 1));
    int x_step = int(word(INNER_STRIDES + 3));
    uint width = word(WIDTH);
    uint first_block = task.split * word(STEPS_PER_SPLIT);
    uint end_block = min(first_block + word(STEPS_PER_SPLIT), word(STEPS));
    for (uint block = first_block; block < end_block; block++) {
        uint length;
        Inner start = find_block(block, length);
        int left_places[ROWS], right_places[COLUMNS], x[COLUMNS];
        for (uint i = 0; i < ROWS; i++) left_places[i] = rows[i].left + start.left;
        for (uint j = 0; j < COLUMNS; j++) {
            right_places[j] = columns[j].right + start.right;
            if (WINDOWED) {
                bool above = uint(columns[j].y + start.y) >= word(HEIGHT);
                x[j] = above ? OUTSIDE : columns[j].x + start.x;
            }
        }
        Value sum[ROWS][COLUMNS];
        for (uint i = 0; i < ROWS; i++)
            for (uint j = 0; j < COLUMNS; j++) sum[i][j] = value_zero();
        for (uint k = 0; k < length; k++) {
            Value a[ROWS], b[COLUMNS];
            for (uint i = 0; i < ROWS; i++) {
                a[i] = load(left, left_places[i], OPERAND_CODE);
                left_places[i] += left_step;
            }
            for (uint j = 0; j < COLUMNS; j++) {
                if (WINDOWED) {
                    bool inside = uint(x[j]) < width;
                    b[j] = load(right, inside ? right_places[j] : 0, OPERAND_CODE);
                    if (!inside) b[j] = value_zero();
                    x[j] += x_step;
                } else {
                    b[j] = load(right, right_places[j], OPERAND_CODE);
                }
                right_places[j] += right_step;
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
