// A contraction whose result is small: a workgroup computes ROWS x COLUMNS elements together, its
// invocations along the inner axis, of which there is only one here. For dot products, and products
// of a matrix whose rows are contiguous and a vector: neighbours read neighbouring elements.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "contraction.glsl"

const uint RESULTS = ROWS * COLUMNS;
const uint STEPS_IN_PART = 32;  // so that rounding errors of a long sum stay small

shared Value sums[RESULTS * WORKGROUP];

void main() {
    Task task = find_task();
    if (!task.exists) return;
    uint first_row = task.row_tile * ROWS, first_column = task.column_tile * COLUMNS;
    uint row_count = word(ROW_COUNT), column_count = word(COLUMN_COUNT);
    int left_starts[ROWS], right_starts[COLUMNS];
    for (uint i = 0; i < ROWS; i++)
        left_starts[i] = find_row(task, min(first_row + i, row_count - 1)).left;
    for (uint j = 0; j < COLUMNS; j++)
        right_starts[j] = find_column(task, min(first_column + j, column_count - 1)).right;
    Value sum[ROWS][COLUMNS];
    for (uint i = 0; i < ROWS; i++)
        for (uint j = 0; j < COLUMNS; j++) sum[i][j] = value_zero();

    uvec2 left = address_word(LEFT), right = address_word(RIGHT);
    int left_step = int(word(INNER_STEPS)), right_step = int(word(INNER_STEPS + 1));
    uint thread = gl_LocalInvocationIndex;
    uint first = task.split * word(STEPS_PER_SPLIT);
    uint end = min(first + word(STEPS_PER_SPLIT), word(STEPS));
    for (uint begin = first; begin < end; begin += WORKGROUP * STEPS_IN_PART) {
        Value part[ROWS][COLUMNS];
        for (uint i = 0; i < ROWS; i++)
            for (uint j = 0; j < COLUMNS; j++) part[i][j] = value_zero();
        uint part_end = min(begin + WORKGROUP * STEPS_IN_PART, end);
        for (uint step = begin + thread; step < part_end; step += WORKGROUP) {
            Value a[ROWS], b[COLUMNS];
            for (uint i = 0; i < ROWS; i++)
                a[i] = load(left, left_starts[i] + int(step) * left_step, OPERAND_CODE);
            for (uint j = 0; j < COLUMNS; j++)
                b[j] = load(right, right_starts[j] + int(step) * right_step, OPERAND_CODE);
            for (uint i = 0; i < ROWS; i++)
                for (uint j = 0; j < COLUMNS; j++) multiply_add(part[i][j], a[i], b[j]);
        }
        for (uint i = 0; i < ROWS; i++)
            for (uint j = 0; j < COLUMNS; j++) sum[i][j] = value_add(sum[i][j], part[i][j]);
    }

    for (uint i = 0; i < ROWS; i++)
        for (uint j = 0; j < COLUMNS; j++) sums[(i * COLUMNS + j) * WORKGROUP + thread] = sum[i][j];
    for (uint half_size = WORKGROUP / 2; half_size > 0; half_size /= 2) {
        barrier();
        if (thread < half_size)
            for (uint each = 0; each < RESULTS; each++) {
                uint place = each * WORKGROUP + thread;
                sums[place] = value_add(sums[place], sums[place + half_size]);
            }
    }
    if (thread != 0u) return;
    for (uint i = 0; i < ROWS; i++)
        for (uint j = 0; j < COLUMNS; j++)
            if (first_row + i < row_count && first_column + j < column_count)
                store_element(
                    task, find_row(task, first_row + i), find_column(task, first_column + j),
                    sums[(i * COLUMNS + j) * WORKGROUP]);
}
