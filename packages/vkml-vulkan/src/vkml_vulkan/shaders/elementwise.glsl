// Elementwise kernels: each invocation computes ELEMENTS results that lie one after the other.
//
// Before the include, OPERANDS says how many operands there are. Arguments: the address of the
// result, one address or number for each operand (two words each), OPTIONS words of options, the
// count of elements; then, for results or operands that are strided, the rank and for each axis,
// the innermost first: size, multiplier, shift, stride of the result, strides of the operands.
#ifndef ELEMENTWISE_GLSL
#define ELEMENTWISE_GLSL

#include "values.glsl"

#ifndef OPTIONS
#define OPTIONS 0
#endif

const uint ELEMENTS = 4;

// How an operand is laid out; constants of the specialisation, so that branches fold.
const uint DENSE = 0;    // as the result: one after the other
const uint STRIDED = 1;  // anywhere
const uint UNIFORM = 2;  // one element for all
const uint NUMBER = 3;   // among the arguments

layout(constant_id = 2) const uint OPERATION = 0;
layout(constant_id = 3) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 4) const uint OPERAND_CODE = STORED_WORD;
layout(constant_id = 5) const bool RESULT_STRIDED = false;
// The innermost axis is a multiple of ELEMENTS long, so that an invocation stays on it.
layout(constant_id = 6) const bool IN_RUNS = false;
layout(constant_id = 7) const uint LAYOUT_0 = DENSE;
layout(constant_id = 8) const uint LAYOUT_1 = DENSE;
layout(constant_id = 9) const uint LAYOUT_2 = DENSE;

const uint OPTIONS_PLACE = 2 + 2 * OPERANDS;
const uint COUNT_PLACE = OPTIONS_PLACE + OPTIONS;
const uint RANK_PLACE = COUNT_PLACE + 1;
const uint AXIS_WORDS = 4 + OPERANDS;

// A function: glslang 13 writes invalid code for a chain of || that begins a constant.
bool any_strided() {
    if (RESULT_STRIDED || LAYOUT_0 == STRIDED) return true;
    if (OPERANDS > 1 && LAYOUT_1 == STRIDED) return true;
    return OPERANDS > 2 && LAYOUT_2 == STRIDED;
}

uint layout_of(uint operand) {
    return operand == 0 ? LAYOUT_0 : operand == 1 ? LAYOUT_1 : LAYOUT_2;
}

// The offsets, in elements, of the result (place 0) and of the operands for a linear index.
void find_offsets(uint index, out int offsets[1 + OPERANDS]) {
    for (uint each = 0; each <= OPERANDS; each++) offsets[each] = 0;
    uint rank = argument(RANK_PLACE);
    uint rest = index;
    for (uint axis = 0; axis < rank; axis++) {
        uint place = RANK_PLACE + 1 + axis * AXIS_WORDS;
        uint next = quotient(rest, argument(place + 1), argument(place + 2));
        int coordinate = int(rest - next * argument(place));
        rest = next;
        for (uint each = 0; each <= OPERANDS; each++)
            offsets[each] += coordinate * int(argument(place + 3 + each));
    }
}

// Places of ELEMENTS results from `first` on; `limit` of them exist.
struct Places {
    uint first;
    uint limit;
    int offsets[ELEMENTS][1 + OPERANDS];
};

// Whether whole words are read and written, four at a time: everything is dense and aligned.
bool is_aligned(uvec2 address) { return (address.x & 15u) == 0u; }

Places find_places() {
    Places places;
    uint count = argument(COUNT_PLACE);
    places.first = invocation_index() * ELEMENTS;
    places.limit = places.first >= count ? 0u : min(count - places.first, ELEMENTS);
    if (!any_strided()) return places;
    if (IN_RUNS) {
        find_offsets(places.first, places.offsets[0]);
        for (uint operand = 0; operand <= OPERANDS; operand++) {
            int stride = int(argument(RANK_PLACE + 4 + operand));
            for (uint each = 1; each < ELEMENTS; each++)
                places.offsets[each][operand] = places.offsets[each - 1][operand] + stride;
        }
    } else {
        for (uint each = 0; each < ELEMENTS; each++)
            if (each < places.limit) find_offsets(places.first + each, places.offsets[each]);
    }
    return places;
}

// The bits of an operand at the places.
void load_operand(uint operand, uint code, Places places, out uvec2 bits[ELEMENTS]) {
    uint how = layout_of(operand);
    uvec2 address = address_argument(2 + 2 * operand);
    for (uint each = 0; each < ELEMENTS; each++) bits[each] = uvec2(0u);
    if (places.limit == 0u) return;
    if (how == NUMBER) {
        for (uint each = 0; each < ELEMENTS; each++) bits[each] = address;
    } else if (how == UNIFORM) {
        uvec2 one = load_bits(address, 0, code);
        for (uint each = 0; each < ELEMENTS; each++) bits[each] = one;
    } else if (how == STRIDED) {
        for (uint each = 0; each < ELEMENTS; each++)
            if (each < places.limit)
                bits[each] = load_bits(address, places.offsets[each][1 + operand], code);
    } else if (code == STORED_WORD && places.limit == ELEMENTS && is_aligned(address)) {
        uvec4 words = Quads(address).at[places.first / ELEMENTS];
        for (uint each = 0; each < ELEMENTS; each++) bits[each].x = words[each];
    } else {
        for (uint each = 0; each < ELEMENTS; each++)
            if (each < places.limit) bits[each] = load_bits(address, int(places.first + each), code);
    }
}

// How a number among the arguments lies in its two words.
uint code_of_operand(uint operand, uint code) {
    return layout_of(operand) != NUMBER ? code : code == STORED_PAIR ? STORED_PAIR : STORED_WORD;
}

void store_result(Places places, uvec2 bits[ELEMENTS]) {
    if (places.limit == 0u) return;
    uvec2 address = address_argument(0);
    bool whole = !RESULT_STRIDED && places.limit == ELEMENTS && is_aligned(address);
    uint width = bits_of(RESULT_CODE);
    if (whole && width == 32u) {
        Quads(address).at[places.first / ELEMENTS] =
            uvec4(bits[0].x, bits[1].x, bits[2].x, bits[3].x);
    } else if (whole && width == 16u) {
        Words words = Words(address);
        words.at[places.first / 2] = (bits[0].x & 0xFFFFu) | (bits[1].x << 16);
        words.at[places.first / 2 + 1] = (bits[2].x & 0xFFFFu) | (bits[3].x << 16);
    } else if (whole && width == 8u) {
        Words(address).at[places.first / 4] = (bits[0].x & 0xFFu) | ((bits[1].x & 0xFFu) << 8) |
                                              ((bits[2].x & 0xFFu) << 16) | (bits[3].x << 24);
    } else {
        for (uint each = 0; each < ELEMENTS; each++)
            if (each < places.limit) {
                int index = RESULT_STRIDED ? places.offsets[each][0] : int(places.first + each);
                store_bits(address, index, bits[each], RESULT_CODE);
            }
    }
}

#endif
