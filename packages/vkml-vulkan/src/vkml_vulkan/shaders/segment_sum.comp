// Sums of elements whose places are sorted, into results that are zero. The invocation of the first
// pair of a place adds all elements of this place, in their order.
//
// Arguments: the addresses of results, elements and pairs; how many elements and how many pairs
// there are; the stride of the elements along the axis that is indexed, and that of the results;
// the rank of the elements and, for each axis, the innermost first: size, multiplier, shift, the
// step in the pairs, strides of elements and results.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "running_sum.glsl"
#include "indices.glsl"

layout(constant_id = 2) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 3) const uint ELEMENT_CODE = STORED_WORD;

const uint RANK_PLACE = 10;
const uint AXIS_WORDS = 6;

void main() {
    uint rest = invocation_index();
    if (rest >= argument(6)) return;
    uint first = 0u;
    int element_offset = 0, result_offset = 0;
    for (uint axis = 0; axis < argument(RANK_PLACE); axis++) {
        uint words = RANK_PLACE + 1 + AXIS_WORDS * axis;
        uint next = quotient(rest, argument(words + 1), argument(words + 2));
        uint coordinate = rest - next * argument(words);
        rest = next;
        first += coordinate * argument(words + 3);
        element_offset += int(coordinate) * int(argument(words + 4));
        result_offset += int(coordinate) * int(argument(words + 5));
    }
    Words pairs = Words(address_argument(4));
    uint place = pairs.at[2 * first];
    if (place == OUTSIDE || (first > 0u && pairs.at[2 * first - 2] == place)) return;
    uvec2 elements = address_argument(2);
    uint count = argument(7);
    int stride = int(argument(8));
    RunningSum sum = empty_sum();
    for (uint each = first; each < count && pairs.at[2 * each] == place; each++) {
        int found = element_offset + int(pairs.at[2 * each + 1]) * stride;
        add_to(sum, load(elements, found, ELEMENT_CODE));
    }
    store(address_argument(0), result_offset + int(place * argument(9)), total_of(sum), RESULT_CODE);
}
