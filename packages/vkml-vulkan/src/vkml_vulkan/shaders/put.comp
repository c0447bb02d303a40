// A pass of `put`: elements are written at flat places of a tensor of any layout. Where a place
// occurs more than once, the last element is the one that stays, as if they were written in order.
//
// Arguments: the addresses of the tensor, the index, the elements and the winners; the count, the
// strides of index and elements, the size of the tensor; the rank and, for each axis, the innermost
// first: size, multiplier, shift, stride.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "indices.glsl"

const uint ALONE = 0;    // few elements: each looks for a later one at its place
const uint COMPETE = 1;  // the number of the last element at each place, plus 1, is written down
const uint WRITE = 2;    // elements that won are written

layout(constant_id = 2) const uint PASS = ALONE;
layout(constant_id = 3) const uint CODE = STORED_WORD;
layout(constant_id = 4) const uint INDEX_CODE = STORED_PAIR;

const uint RANK_PLACE = 12;

// Negative numbers count from the end.
uint flat_place(uint number) {
    uvec2 index = address_argument(2);
    uint size = argument(11);
    uvec2 bits = load_bits(index, int(number) * int(argument(9)), INDEX_CODE);
    bool is_negative = (INDEX_CODE == STORED_PAIR ? bits.y : bits.x) >= 0x80000000u;
    if (is_negative) {
        bits.x += size;
        bits.y = INDEX_CODE == STORED_PAIR && bits.y == 0xFFFFFFFFu ? 0u : bits.y;
    }
    return place_of_index(bits, INDEX_CODE, size);
}

int offset_of(uint place) {
    int offset = 0;
    uint rest = place;
    for (uint axis = 0; axis < argument(RANK_PLACE); axis++) {
        uint words = RANK_PLACE + 1 + 4 * axis;
        uint next = quotient(rest, argument(words + 1), argument(words + 2));
        offset += int(rest - next * argument(words)) * int(argument(words + 3));
        rest = next;
    }
    return offset;
}

bool has_won(uint number, uint place) {
    if (PASS == WRITE) return Words(address_argument(6)).at[place] == number + 1u;
    for (uint later = number + 1u; later < argument(8); later++)
        if (flat_place(later) == place) return false;
    return true;
}

void main() {
    uint number = invocation_index();
    if (number >= argument(8)) return;
    uint place = flat_place(number);
    if (place == OUTSIDE) return;
    if (PASS == COMPETE) {
        atomicMax(Words(address_argument(6)).at[place], number + 1u);
        return;
    }
    if (!has_won(number, place)) return;
    uvec2 bits = load_bits(address_argument(4), int(number) * int(argument(10)), CODE);
    store_bits(address_argument(0), offset_of(place), bits, CODE);
}
