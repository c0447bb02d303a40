// Sums by an index, one invocation for each result: it walks along the index and adds the elements
// that belong to it, in their order. Long walks are cut into blocks; TOTAL adds what came of them.
//
// Arguments: the addresses of results, elements and index; how many results there are, with
// multiplier and shift for a division by it; how long the index is, its stride, that of the
// elements; how much of the index a block has, and how many blocks there are; the size of the axis
// that is indexed, and the place on it that stays zero; the rank of the results and, for each axis,
// the innermost first: size, multiplier, shift, the step in the place, strides of index and
// elements.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "running_sum.glsl"
#include "indices.glsl"

layout(constant_id = 2) const bool TOTAL = false;
layout(constant_id = 3) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 4) const uint ELEMENT_CODE = STORED_WORD;
layout(constant_id = 5) const uint INDEX_CODE = STORED_PAIR;

const uint RANK_PLACE = 16;
const uint AXIS_WORDS = 6;

Value total_of_blocks(uint number, uint count) {
    RunningSum sum = empty_sum();
    for (uint block = 0; block < argument(13); block++)
        add_to(sum, load(address_argument(2), int(block * count + number), ELEMENT_CODE));
    return total_of(sum);
}

Value walk(uint number, uint block) {
    uint place = 0u;
    int index_offset = 0, element_offset = 0;
    uint rest = number;
    for (uint axis = 0; axis < argument(RANK_PLACE); axis++) {
        uint words = RANK_PLACE + 1 + AXIS_WORDS * axis;
        uint next = quotient(rest, argument(words + 1), argument(words + 2));
        uint coordinate = rest - next * argument(words);
        rest = next;
        place += coordinate * argument(words + 3);
        index_offset += int(coordinate) * int(argument(words + 4));
        element_offset += int(coordinate) * int(argument(words + 5));
    }
    RunningSum sum = empty_sum();
    uvec2 elements = address_argument(2), index = address_argument(4);
    uint size = argument(14);
    int index_stride = int(argument(10)), element_stride = int(argument(11));
    uint begin = block * argument(12);
    uint end = place == argument(15) ? begin : min(begin + argument(12), argument(9));
    for (uint each = begin; each < end; each++) {
        int where = index_offset + int(each) * index_stride;
        if (load_place(index, where, INDEX_CODE, size) != place) continue;
        int found = element_offset + int(each) * element_stride;
        add_to(sum, load(elements, found, ELEMENT_CODE));
    }
    return total_of(sum);
}

void main() {
    uint number = invocation_index();
    uint count = argument(6);
    if (TOTAL) {
        if (number < count)
            store(address_argument(0), int(number), total_of_blocks(number, count), RESULT_CODE);
        return;
    }
    uint block = quotient(number, argument(7), argument(8));
    if (block < argument(13)) {
        Value value = walk(number - block * count, block);
        store(address_argument(0), int(number), value, RESULT_CODE);
    }
}
