// Sums of products over shared indices: matrix products, convolutions and their gradients.
//
// Along the *rows* of the result only the left operand changes, along its *columns* only the right
// one, along the *batch* both; along *inner* axes, which the result lacks, the products are summed.
// Rows, columns and batch are axes of any strides, so operands are read where they lie. Inner axes
// are up to three: two outer ones, and one whose index runs in the innermost loop.
//
// A right operand may be WINDOWED, as the image of a convolution: then an element also has a
// position (y, x) in a plane, each the sum of steps along columns and inner axes, and outside the
// plane there are zeros.
//
// The sum may be split: workgroups with different `split` sum over different parts of the inner
// axes into results of their own, which another kernel adds up.
#ifndef CONTRACTION_GLSL
#define CONTRACTION_GLSL

#include "arithmetic.glsl"

layout(constant_id = 2) const uint OPERAND_CODE = STORED_WORD;
layout(constant_id = 3) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 4) const bool WINDOWED = false;
layout(constant_id = 5) const uint ROWS = 4;  // of the result, for each invocation
layout(constant_id = 6) const uint COLUMNS = 4;

// Places of arguments. Those with a divisor are followed by its multiplier and shift.
const uint LEFT = 0;
const uint RIGHT = 2;
const uint RESULT = 4;
const uint BIAS = 6;  // address 0: none
const uint ROW_COUNT = 8;
const uint COLUMN_COUNT = 9;
const uint BATCH_COUNT = 10;
const uint ROW_TILES = 11;
const uint COLUMN_TILES = 14;
const uint SPLITS = 17;
const uint SPLIT_STRIDE = 20;  // between the results of two splits
const uint STEPS = 21;         // of the summation, in the unit of a kernel
const uint STEPS_PER_SPLIT = 22;
const uint INNER_SIZE = 23;
const uint BLOCK_SIZE = 26;  // the innermost axis goes in blocks
const uint BLOCKS = 27;
const uint MIDDLE_SIZE = 30;    // the axis around the innermost one
const uint INNER_STEPS = 33;    // of left, right, y, x; so for each axis
const uint MIDDLE_STEPS = 37;
const uint OUTER_STEPS = 41;
const uint RESULT_START = 45;
const uint LEFT_START = 46;
const uint RIGHT_START = 47;
const uint Y_START = 48;
const uint X_START = 49;
const uint HEIGHT = 50;
const uint WIDTH = 51;
const uint BATCH_RANK = 52;
const uint ROW_RANK = 53;
const uint COLUMN_RANK = 54;
const uint LEFT_IS_DEEP = 55;  // tiles are loaded along the innermost axis
const uint RIGHT_IS_DEEP = 56;
const uint AXES = 57;
// Words of an axis: size, multiplier, shift, and the steps of these:
const uint BATCH_WORDS = 7;   // left, right, result, bias
const uint ROW_WORDS = 6;     // left, result, bias
const uint COLUMN_WORDS = 8;  // right, result, bias, y, x

// The block is always longer than what can be pushed. Without `argument`, whose branch makes loops
// slow to compile.
uint word(uint place) { return Words(uvec2(pushed.words[0], pushed.words[1])).at[place]; }

uvec2 address_word(uint place) { return uvec2(word(place), word(place + 1)); }

const int OUTSIDE = 1 << 30;  // an x that no step leads back into the plane

// Where a workgroup works.
struct Task {
    bool exists;
    uint row_tile;
    uint column_tile;
    uint split;
    int left, right, result, bias;  // elements from the addresses
    uint row_axes, column_axes;     // places of arguments
};

uint divide(uint x, uint place, out uint rest) {
    uint found = quotient(x, word(place + 1), word(place + 2));
    rest = x - found * word(place);
    return found;
}

Task find_task() {
    Task task;
    uint rest = divide(workgroup_index(), COLUMN_TILES, task.column_tile);
    rest = divide(rest, ROW_TILES, task.row_tile);
    uint batch = divide(rest, SPLITS, task.split);
    task.exists = batch < word(BATCH_COUNT);
    task.left = int(word(LEFT_START));
    task.right = int(word(RIGHT_START));
    task.result = int(word(RESULT_START)) + int(task.split * word(SPLIT_STRIDE));
    task.bias = 0;
    uint place = AXES;
    for (uint rank = word(BATCH_RANK); rank > 0; rank--) {
        uint index;
        batch = divide(batch, place, index);
        task.left += int(index * word(place + 3));
        task.right += int(index * word(place + 4));
        task.result += int(index * word(place + 5));
        task.bias += int(index * word(place + 6));
        place += BATCH_WORDS;
    }
    task.row_axes = place;
    task.column_axes = place + word(ROW_RANK) * ROW_WORDS;
    return task;
}

// Offsets of a row: in the left operand, the result, the bias.
struct Row { int left, result, bias; };

Row find_row(Task task, uint row) {
    Row found = Row(task.left, 0, 0);
    uint place = task.row_axes;
    for (uint rank = word(ROW_RANK); rank > 0; rank--) {
        uint index;
        row = divide(row, place, index);
        found.left += int(index * word(place + 3));
        found.result += int(index * word(place + 4));
        found.bias += int(index * word(place + 5));
        place += ROW_WORDS;
    }
    return found;
}

struct Column { int right, result, bias, y, x; };

Column find_column(Task task, uint column) {
    Column found = Column(task.right, 0, 0, int(word(Y_START)), int(word(X_START)));
    uint place = task.column_axes;
    for (uint rank = word(COLUMN_RANK); rank > 0; rank--) {
        uint index;
        column = divide(column, place, index);
        found.right += int(index * word(place + 3));
        found.result += int(index * word(place + 4));
        found.bias += int(index * word(place + 5));
        found.y += int(index * word(place + 6));
        found.x += int(index * word(place + 7));
        place += COLUMN_WORDS;
    }
    return found;
}

// Inner axes, copied from memory before the loops that use them. Steps are those of: left, right,
// y, x.
struct InnerAxis { uint size, multiplier, shift; ivec4 steps; };
struct InnerAxes { InnerAxis inner, middle; ivec4 outer_steps; };

ivec4 find_steps(uint place) {
    return ivec4(word(place), word(place + 1), word(place + 2), word(place + 3));
}

// `parts` is the place of the parts of the innermost axis that are counted: INNER_SIZE or BLOCKS.
InnerAxes find_inner_axes(uint parts) {
    InnerAxes axes;
    axes.inner = InnerAxis(word(parts), word(parts + 1), word(parts + 2), find_steps(INNER_STEPS));
    axes.middle = InnerAxis(
        word(MIDDLE_SIZE), word(MIDDLE_SIZE + 1), word(MIDDLE_SIZE + 2), find_steps(MIDDLE_STEPS));
    axes.outer_steps = find_steps(OUTER_STEPS);
    return axes;
}

// What the axes around the innermost one add to left, right, y and x; `inner` is its index.
ivec4 find_outer_offsets(InnerAxes axes, uint step, out uint inner) {
    uint around = quotient(step, axes.inner.multiplier, axes.inner.shift);
    inner = step - around * axes.inner.size;
    uint outer = quotient(around, axes.middle.multiplier, axes.middle.shift);
    uint middle = around - outer * axes.middle.size;
    return int(middle) * axes.middle.steps + int(outer) * axes.outer_steps;
}

void multiply_add(inout Value sum, Value x, Value y) { sum = value_add(sum, value_multiply(x, y)); }

// `value`, with the bias where there is one, becomes an element of the result.
void store_element(Task task, Row row, Column column, Value value) {
    uvec2 bias = address_word(BIAS);
    if ((bias.x | bias.y) != 0u) {
        int place = task.bias + row.bias + column.bias;
        value = value_add(value, load(bias, place, OPERAND_CODE));
    }
    int place = task.result + row.result + column.result;
    store(address_word(RESULT), place, value, RESULT_CODE);
}

#endif
