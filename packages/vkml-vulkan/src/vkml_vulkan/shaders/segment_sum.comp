// Sums of elements whose places are sorted, into results that are zero. The invocation of the first
// pair of a place adds all elements of this place, in their order: WIDTH of them side by side.
//
// Arguments: the addresses of results, elements and pairs; how many invocations and how many pairs
// there are; the strides of elements and results along the axis that is indexed, and from one of
// the elements side by side to the next; the rank of the invocations and, for each axis, the
// innermost first: size, multiplier, shift, the step in the pairs, strides of elements and results.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "running_sum.glsl"
#include "indices.glsl"

layout(constant_id = 2) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 3) const uint ELEMENT_CODE = STORED_WORD;
layout(constant_id = 4) const uint WIDTH = 1;

const uint MOST_WIDTH = 4;
const uint RANK_PLACE = 12;
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
    int stride = int(argument(8)), step = int(argument(10));
    RunningSum sums[MOST_WIDTH];
    for (uint beside = 0; beside < WIDTH; beside++) sums[beside] = empty_sum();
    for (uint each = first; each < count && pairs.at[2 * each] == place; each++) {
        int found = element_offset + int(pairs.at[2 * each + 1]) * stride;
        for (uint beside = 0; beside < WIDTH; beside++)
            add_to(sums[beside], load(elements, found + int(beside) * step, ELEMENT_CODE));
    }
    result_offset += int(place * argument(9));
    for (uint beside = 0; beside < WIDTH; beside++) {
        int offset = result_offset + int(beside * argument(11));
        store(address_argument(0), offset, total_of(sums[beside]), RESULT_CODE);
    }
}
