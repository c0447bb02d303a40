// Kernels that work on rows: what is reduced, or normalized, together. A row's elements lie a step
// apart; with SPLIT they lie in runs of `inner` elements, and the runs a second step apart. One
// workgroup takes a row, or, with PER_INVOCATION, one invocation.
//
// Before the include, ARRAYS is how many arrays there are (results first) and NUMBERS how many
// numbers. Arguments: the addresses of the arrays; the numbers, two words each; the count of rows;
// the length of a row; `inner` with its multiplier and shift; for each array its step and its step
// from run to run; then the rank of the rows and for each of their axes, the innermost first: size,
// multiplier, shift, and the stride of each array.
#ifndef ROWS_GLSL
#define ROWS_GLSL

#include "sums.glsl"
#include "workgroup.glsl"

layout(constant_id = 3) const bool PER_INVOCATION = false;
// Rows are read four elements at a time: they are dense, aligned and a multiple of four long.
layout(constant_id = 4) const bool WIDE = false;
layout(constant_id = 5) const bool SPLIT = false;
layout(constant_id = 6) const uint CODE = STORED_WORD;
layout(constant_id = 7) const uint OPERATION = 0;

const uint COUNT_PLACE = 2 * ARRAYS + 2 * NUMBERS;
const uint LENGTH_PLACE = COUNT_PLACE + 1;
const uint INNER_PLACE = COUNT_PLACE + 2;
const uint STEPS_PLACE = COUNT_PLACE + 5;
const uint RANK_PLACE = STEPS_PLACE + 2 * ARRAYS;
const uint AXIS_WORDS = 3 + ARRAYS;

const uint MOST = 4;

// A function: WIDTH of them are handled at a time.
uint width() { return WIDE ? MOST : 1u; }

uint row_index() { return PER_INVOCATION ? invocation_index() : workgroup_index(); }

uint row_length() { return argument(LENGTH_PLACE); }

bool is_row(uint row) { return row < argument(COUNT_PLACE); }

// The elements of an invocation: from `first_element` on, `stride` apart, width() at a time.
uint first_element() { return PER_INVOCATION ? 0u : gl_LocalInvocationIndex * width(); }

uint stride() { return PER_INVOCATION ? width() : WORKGROUP * width(); }

// The numbers may be addresses.
uvec2 address_number(uint which) { return address_argument(2 * ARRAYS + 2 * which); }

// Of the invocations that work on a row, one writes what there is once.
bool speaks_for_row() { return PER_INVOCATION || gl_LocalInvocationIndex == 0u; }

Value number(uint which) { return number_argument(2 * ARRAYS + 2 * which); }

// Where a row begins in each array.
struct Row {
    int offsets[ARRAYS];
};

Row find_row(uint row) {
    Row found;
    for (uint each = 0; each < ARRAYS; each++) found.offsets[each] = 0;
    uint rank = argument(RANK_PLACE);
    uint rest = row;
    for (uint axis = 0; axis < rank; axis++) {
        uint place = RANK_PLACE + 1 + axis * AXIS_WORDS;
        uint next = quotient(rest, argument(place + 1), argument(place + 2));
        int coordinate = int(rest - next * argument(place));
        rest = next;
        for (uint each = 0; each < ARRAYS; each++)
            found.offsets[each] += coordinate * int(argument(place + 3 + each));
    }
    return found;
}

// Where element `index` of a row lies in an array.
int element_offset(uint array, Row row, uint index) {
    int step = int(argument(STEPS_PLACE + 2 * array));
    if (!SPLIT) return row.offsets[array] + int(index) * step;
    uint run = quotient(index, argument(INNER_PLACE + 1), argument(INNER_PLACE + 2));
    int in_run = int(index - run * argument(INNER_PLACE));
    return row.offsets[array] + int(run) * int(argument(STEPS_PLACE + 2 * array + 1)) + in_run * step;
}

// width() elements that lie one after the other.
void load_at(uvec2 address, int offset, out Value values[MOST]) {
    if (!WIDE) {
        values[0] = load(address, offset, CODE);
    } else if (CODE == STORED_WORD) {
        uvec4 words = Quads(address).at[offset >> 2];
        for (uint each = 0; each < MOST; each++)
            values[each] = value_of_bits(uvec2(words[each], 0u), CODE);
    } else if (CODE == STORED_PAIR) {
        for (uint each = 0; each < MOST; each++)
            values[each] = load(address, offset + int(each), CODE);
    } else {
        Words words = Words(address);
        uint low = words.at[offset >> 1];
        uint high = words.at[(offset >> 1) + 1];
        values[0] = value_of_bits(uvec2(low, 0u), CODE);
        values[1] = value_of_bits(uvec2(low >> 16, 0u), CODE);
        values[2] = value_of_bits(uvec2(high, 0u), CODE);
        values[3] = value_of_bits(uvec2(high >> 16, 0u), CODE);
    }
}

// width() elements of an array from `index` on.
void load_some(uint array, Row row, uint index, out Value values[MOST]) {
    load_at(address_argument(2 * array), element_offset(array, row, index), values);
}

void store_some(uint array, Row row, uint index, Value values[MOST]) {
    uvec2 address = address_argument(2 * array);
    int offset = element_offset(array, row, index);
    if (!WIDE) {
        store(address, offset, values[0], CODE);
    } else if (CODE == STORED_WORD) {
        uvec4 words;
        for (uint each = 0; each < MOST; each++) words[each] = bits_of_value(values[each], CODE).x;
        Quads(address).at[offset >> 2] = words;
    } else if (CODE == STORED_PAIR) {
        for (uint each = 0; each < MOST; each++)
            store(address, offset + int(each), values[each], CODE);
    } else {
        uint bits[MOST];
        for (uint each = 0; each < MOST; each++)
            bits[each] = bits_of_value(values[each], CODE).x & 0xFFFFu;
        Words words = Words(address);
        words.at[offset >> 1] = bits[0] | bits[1] << 16;
        words.at[(offset >> 1) + 1] = bits[2] | bits[3] << 16;
    }
}

// The sum of width() values.
Value sum_of(Value values[MOST]) {
    return WIDE ? (values[0] + values[1]) + (values[2] + values[3]) : values[0];
}

// Over a row: each invocation gives what it has of it.
Value row_sum(Sum sum) {
    return PER_INVOCATION ? value_of(sum) : workgroup_sum(value_of(sum));
}

#if defined(CLASS_F64)
// NaN is not told apart.
Value workgroup_largest(Value x) {
    uvec2 bits = unpackDouble2x32(x);
    bool negative = (bits.y & SIGN_BIT) != 0u;
    uvec2 key = workgroup_max_long(negative ? ~bits : uvec2(bits.x, bits.y | SIGN_BIT));
    return packDouble2x32((key.y & SIGN_BIT) != 0u ? uvec2(key.x, key.y ^ SIGN_BIT) : ~key);
}
#else
Value workgroup_largest(Value x) { return workgroup_max(x); }
#endif

#endif
