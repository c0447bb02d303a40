// Steps of optimisers: dense arrays of one size, read and written in place. Each invocation takes
// ELEMENTS elements. Arguments: the addresses of TENSORS arrays, NUMBERS numbers of two words, the
// count of elements. TENSORS and NUMBERS are defined before the include.
#ifndef OPTIMIZER_STEP_GLSL
#define OPTIMIZER_STEP_GLSL

#include "arithmetic.glsl"

const uint ELEMENTS = 4;
const uint COUNT_PLACE = 2 * TENSORS + 2 * NUMBERS;

#if defined(CLASS_F64)
const uint STORED = STORED_PAIR;
#else
const uint STORED = STORED_WORD;
#endif

layout(constant_id = 2) const uint FLAGS = 0;

bool has(uint flag) { return (FLAGS & flag) != 0u; }

Value number(uint which) { return number_argument(2 * TENSORS + 2 * which); }

// The elements of an invocation: from `first` on, `limit` of them.
struct Range {
    uint first;
    uint limit;
};

Range find_range() {
    uint count = argument(COUNT_PLACE);
    uint first = invocation_index() * ELEMENTS;
    return Range(first, first >= count ? 0u : min(count - first, ELEMENTS));
}

bool is_whole(uvec2 address, Range range) {
    return STORED == STORED_WORD && range.limit == ELEMENTS && (address.x & 15u) == 0u;
}

void load_range(uint tensor, Range range, out Value values[ELEMENTS]) {
    uvec2 address = address_argument(2 * tensor);
    for (uint each = 0; each < ELEMENTS; each++) values[each] = Value(0);
    if (is_whole(address, range)) {
        uvec4 words = Quads(address).at[range.first / ELEMENTS];
        for (uint each = 0; each < ELEMENTS; each++)
            values[each] = value_of_bits(uvec2(words[each], 0u), STORED);
    } else {
        for (uint each = 0; each < ELEMENTS; each++)
            if (each < range.limit) values[each] = load(address, int(range.first + each), STORED);
    }
}

void store_range(uint tensor, Range range, Value values[ELEMENTS]) {
    uvec2 address = address_argument(2 * tensor);
    if (is_whole(address, range)) {
        uvec4 words;
        for (uint each = 0; each < ELEMENTS; each++)
            words[each] = bits_of_value(values[each], STORED).x;
        Quads(address).at[range.first / ELEMENTS] = words;
    } else {
        for (uint each = 0; each < ELEMENTS; each++)
            if (each < range.limit) store(address, int(range.first + each), values[each], STORED);
    }
}

// Flags that both steps know.
const uint MAXIMIZE = 1;
const uint DECAYS_GRADIENT = 2;

// The gradient to descend along.
Value descended(Value param, Value grad, Value weight_decay) {
    if (!has(DECAYS_GRADIENT)) return has(MAXIMIZE) ? -grad : grad;
    // `precise` here and below: no contraction, so that training follows the CPU.
    precise Value decay = param * weight_decay;
    return has(MAXIMIZE) ? decay - grad : decay + grad;
}

#endif
