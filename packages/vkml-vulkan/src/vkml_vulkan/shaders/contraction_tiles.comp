// A contraction through shared memory, for GPUs: a workgroup computes a tile of the result. In
// slices of DEPTH along the inner axes it loads what the tile needs of both operands, each element
// once; then each invocation sums ROWS x COLUMNS elements.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "contraction.glsl"

layout(constant_id = 7) const uint ROW_THREADS = 16;
layout(constant_id = 8) const uint DEPTH = 16;
layout(constant_id = 9) const bool LONG = false;  // the sum is so long that it goes in parts

const uint COLUMN_THREADS = WORKGROUP / ROW_THREADS;
const uint TILE_ROWS = ROWS * ROW_THREADS;
const uint TILE_COLUMNS = COLUMNS * COLUMN_THREADS;
const uint ROW_LOADS = TILE_ROWS * DEPTH / WORKGROUP;
const uint COLUMN_LOADS = TILE_COLUMNS * DEPTH / WORKGROUP;
const uint SLICES_IN_PART = 512 / DEPTH;

// One more, so that neighbours along the depth lie in different banks.
const uint ROW_PITCH = TILE_ROWS + 1;
const uint COLUMN_PITCH = TILE_COLUMNS + 1;

shared Value left_tile[DEPTH * ROW_PITCH];
shared Value right_tile[DEPTH * COLUMN_PITCH];

// Which element of a slice this invocation loads as its `load`-th: neighbours lie along the depth,
// or along rows (columns), whichever is contiguous in memory.
void find_load(uint load, bool deep, uint tile_size, out uint across, out uint depth) {
    uint linear = load * WORKGROUP + gl_LocalInvocationIndex;
    across = deep ? linear / DEPTH : linear % tile_size;
    depth = deep ? linear % DEPTH : linear / tile_size;
}

ivec4 find_offsets(InnerAxes axes, uint step, bool is_simple) {
    if (is_simple) return int(step) * axes.inner.steps;
    uint inner;
    ivec4 around = find_outer_offsets(axes, step, inner);
    return around + int(inner) * axes.inner.steps;
}

void main() {
    Task task = find_task();
    if (!task.exists) return;
    uint tile_row = task.row_tile * TILE_ROWS, tile_column = task.column_tile * TILE_COLUMNS;
    uint row_count = word(ROW_COUNT), column_count = word(COLUMN_COUNT);
    bool left_is_deep = word(LEFT_IS_DEEP) != 0u, right_is_deep = word(RIGHT_IS_DEEP) != 0u;
    uint across, depth;

    int left_starts[ROW_LOADS];
    bool has_row[ROW_LOADS];
    for (uint i = 0; i < ROW_LOADS; i++) {
        find_load(i, left_is_deep, TILE_ROWS, across, depth);
        has_row[i] = tile_row + across < row_count;
        left_starts[i] = find_row(task, min(tile_row + across, row_count - 1)).left;
    }
    Column starts[COLUMN_LOADS];
    bool has_column[COLUMN_LOADS];
    for (uint j = 0; j < COLUMN_LOADS; j++) {
        find_load(j, right_is_deep, TILE_COLUMNS, across, depth);
        has_column[j] = tile_column + across < column_count;
        starts[j] = find_column(task, min(tile_column + across, column_count - 1));
    }

    Value sum[ROWS][COLUMNS], total[ROWS][COLUMNS];
    for (uint i = 0; i < ROWS; i++)
        for (uint j = 0; j < COLUMNS; j++) sum[i][j] = total[i][j] = value_zero();

    uvec2 left = address_word(LEFT), right = address_word(RIGHT);
    uint row_thread = gl_LocalInvocationIndex / COLUMN_THREADS;
    uint column_thread = gl_LocalInvocationIndex % COLUMN_THREADS;
    InnerAxes axes = find_inner_axes(INNER_SIZE);
    uint height = word(HEIGHT), width = word(WIDTH);
    bool is_simple = word(STEPS) == axes.inner.size;
    uint first = task.split * word(STEPS_PER_SPLIT);
    uint end = min(first + word(STEPS_PER_SPLIT), word(STEPS));
    uint slices = 0;
    // Steps are single indices.
    for (uint step = first; step < end; step += DEPTH) {
        // Beyond the end there are zeros on both sides, so infinity cannot meet zero there.
        for (uint i = 0; i < ROW_LOADS; i++) {
            find_load(i, left_is_deep, TILE_ROWS, across, depth);
            Value value = value_zero();
            if (has_row[i] && step + depth < end) {
                ivec4 offsets = find_offsets(axes, step + depth, is_simple);
                value = load(left, left_starts[i] + offsets.x, OPERAND_CODE);
            }
            left_tile[depth * ROW_PITCH + across] = value;
        }
        for (uint j = 0; j < COLUMN_LOADS; j++) {
            find_load(j, right_is_deep, TILE_COLUMNS, across, depth);
            Value value = value_zero();
            if (has_column[j] && step + depth < end) {
                ivec4 offsets = find_offsets(axes, step + depth, is_simple);
                bool is_inside = uint(starts[j].y + offsets.z) < height &&
                                 uint(starts[j].x + offsets.w) < width;
                if (!WINDOWED || is_inside)
                    value = load(right, starts[j].right + offsets.y, OPERAND_CODE);
            }
            right_tile[depth * COLUMN_PITCH + across] = value;
        }
        barrier();
        for (uint k = 0; k < DEPTH; k++) {
            Value a[ROWS], b[COLUMNS];
            for (uint i = 0; i < ROWS; i++) a[i] = left_tile[k * ROW_PITCH + row_thread * ROWS + i];
            for (uint j = 0; j < COLUMNS; j++)
                b[j] = right_tile[k * COLUMN_PITCH + column_thread + j * COLUMN_THREADS];
            for (uint i = 0; i < ROWS; i++)
                for (uint j = 0; j < COLUMNS; j++) multiply_add(sum[i][j], a[i], b[j]);
        }
        barrier();
        if (LONG && ++slices % SLICES_IN_PART == 0u)
            for (uint i = 0; i < ROWS; i++)
                for (uint j = 0; j < COLUMNS; j++) {
                    total[i][j] = value_add(total[i][j], sum[i][j]);
                    sum[i][j] = value_zero();
                }
    }

    for (uint i = 0; i < ROWS; i++) {
        uint row = tile_row + row_thread * ROWS + i;
        if (row >= row_count) break;
        Row found = find_row(task, row);
        for (uint j = 0; j < COLUMNS; j++) {
            uint column = tile_column + column_thread + j * COLUMN_THREADS;
            if (column >= column_count) break;
            Value value = LONG ? value_add(total[i][j], sum[i][j]) : sum[i][j];
            store_element(task, found, find_column(task, column), value);
        }
    }
}
