// Random integers from a smallest one on. They are computed in 64 bits; narrower results take the
// lower ones, as two's complement does. Options: the draw; how many integers there are, 0 meaning
// all; the smallest.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 0
#define OPTIONS 8
#include "elementwise.glsl"
#include "integers64.glsl"
#include "philox.glsl"

// Up to 2^32 integers: the upper half of word 0 times their number. More: the remainder by their
// number of both words, word 0 being the upper half.
uvec2 scaled(uvec2 words, uvec2 count) {
    if (count.y == 0u && count.x != 0u) {
        uint high, low;
        umulExtended(words.x, count.x, high, low);
        return uvec2(high, 0u);
    }
    if (count == uvec2(0u, 1u)) return uvec2(words.x, 0u);
    if (count == uvec2(0u)) return words.yx;
    uvec2 quotient, rest;
    ulong_divide(words.yx, count, quotient, rest);
    return rest;
}

void main() {
    Places places = find_places();
    Draw draw = draw_argument(OPTIONS_PLACE);
    uvec2 count = address_argument(OPTIONS_PLACE + 4), low = address_argument(OPTIONS_PLACE + 6);
    uvec2 bits[ELEMENTS];
    for (uint each = 0; each < ELEMENTS; each++) {
        bits[each] = long_add(scaled(philox(draw, places.first + each), count), low);
        if (RESULT_CODE == STORED_BOOL) bits[each].x = uint(bits[each] != uvec2(0u));
    }
    store_result(places, bits);
}
