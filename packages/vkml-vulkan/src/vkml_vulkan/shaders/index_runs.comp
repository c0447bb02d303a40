// The places that an index names, as pairs (place, number of the element), in sorted runs of RUN.
// Elements of one place keep their order. What lies outside comes last.
//
// Arguments: the addresses of pairs and index; the number of elements; the size of the axis that is
// indexed, the step of the place along it, the place on it that stays zero; the rank of the index
// and, for each axis, the innermost first: size, multiplier, shift, stride, the step of the place.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "indices.glsl"

layout(constant_id = 2) const uint INDEX_CODE = STORED_PAIR;

const uint RUN = 8;
const uint RANK_PLACE = 8;
const uint AXIS_WORDS = 5;

uint place_of(uint number) {
    int offset = 0;
    uint place = 0u;
    uint rest = number;
    for (uint axis = 0; axis < argument(RANK_PLACE); axis++) {
        uint words = RANK_PLACE + 1 + AXIS_WORDS * axis;
        uint next = quotient(rest, argument(words + 1), argument(words + 2));
        uint coordinate = rest - next * argument(words);
        rest = next;
        offset += int(coordinate) * int(argument(words + 3));
        place += coordinate * argument(words + 4);
    }
    uint along = load_place(address_argument(2), offset, INDEX_CODE, argument(5));
    if (along == OUTSIDE || along == argument(7)) return OUTSIDE;
    return place + along * argument(6);
}

void main() {
    uint first = invocation_index() * RUN;
    uint count = argument(4);
    if (first >= count) return;
    uint limit = min(count - first, RUN);
    uvec2 pairs[RUN];
    for (uint each = 0; each < RUN; each++)
        pairs[each] = uvec2(each < limit ? place_of(first + each) : OUTSIDE, first + each);
    // Neighbours change places, even and odd ones in turn. Equal ones never do.
    for (uint round = 0; round < RUN; round++)
        for (uint each = round & 1u; each + 1 < RUN; each += 2)
            if (pairs[each].x > pairs[each + 1].x) {
                uvec2 other = pairs[each];
                pairs[each] = pairs[each + 1];
                pairs[each + 1] = other;
            }
    Words words = Words(address_argument(0));
    for (uint each = 0; each < limit; each++) {
        words.at[2 * (first + each)] = pairs[each].x;
        words.at[2 * (first + each) + 1] = pairs[each].y;
    }
}
