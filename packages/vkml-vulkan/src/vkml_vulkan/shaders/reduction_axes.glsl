// How a reduction walks over its operand. The axes are kept or reduced; each side is as few axes as
// show the same elements, innermost first, and is counted by one index. LANES invocations share an
// output, side by side or LANES_APART. Few outputs have their work cut into chunks, whose partial
// results another launch reduces.
//
// Arguments: the addresses of the result, of the operand and of what goes along with partial
// results; a number (two words); then, in words: the outputs, the elements of each, the elements of
// a chunk; the workgroups of a chunk with multiplier and shift; the kept axes, then the reduced
// ones: their number and for each size, multiplier, shift and stride.
#ifndef REDUCTION_AXES_GLSL
#define REDUCTION_AXES_GLSL

#include "values.glsl"

const uint NUMBER_PLACE = 6;
const uint OUTPUTS_PLACE = 8;
const uint ELEMENTS_PLACE = 9;
const uint CHUNK_PLACE = 10;
const uint GROUPS_PLACE = 11;
const uint KEPT_PLACE = 14;
const uint AXIS_WORDS = 4;

layout(constant_id = 3) const uint OPERATION = 0;
layout(constant_id = 4) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 5) const uint OPERAND_CODE = STORED_WORD;
layout(constant_id = 6) const uint LANES = 1;
layout(constant_id = 7) const bool LANES_APART = false;
layout(constant_id = 8) const bool WIDE = false;  // four elements, one after the other, at a time
layout(constant_id = 9) const uint REDUCED_AXES = 1;  // 1 or 2, or 0 for any number

const uint WIDTH = WIDE ? 4 : 1;
const uint COLUMNS = WORKGROUP / LANES;

// What an invocation does: elements from `start` to before `stop` of an output; none, where the grid
// is larger than it has to be.
struct Part {
    uint output_index;
    uint lane;
    uint chunk;
    uint start;
    uint stop;
};

bool is_empty(Part part) { return part.start == part.stop; }

Part find_part() {
    Part part;
    uint group = workgroup_index();
    uint self = gl_LocalInvocationIndex;
    part.chunk = quotient(group, argument(GROUPS_PLACE + 1), argument(GROUPS_PLACE + 2));
    part.lane = LANES_APART ? self / COLUMNS : self % LANES;
    uint column = LANES_APART ? self % COLUMNS : self / LANES;
    part.output_index = (group - part.chunk * argument(GROUPS_PLACE)) * COLUMNS + column;
    part.start = part.chunk * argument(CHUNK_PLACE);
    part.stop = min(part.start + argument(CHUNK_PLACE), argument(ELEMENTS_PLACE));
    if (part.output_index >= argument(OUTPUTS_PLACE) || part.stop < part.start)
        part.stop = part.start;
    return part;
}

int offset_along(uint place, uint index) {
    int offset = 0;
    uint rank = argument(place);
    for (uint axis = 0; axis < rank; axis++) {
        uint next = quotient(index, argument(place + 2), argument(place + 3));
        offset += int(index - next * argument(place + 1)) * int(argument(place + 4));
        index = next;
        place += AXIS_WORDS;
    }
    return offset;
}

int kept_offset(uint index) { return offset_along(KEPT_PLACE, index); }

// The reduced axes, read outside of the loop over them.
struct ReducedAxes {
    uint place;
    uint size;
    uint multiplier;
    uint shift;
    ivec2 strides;
};

ReducedAxes find_reduced_axes() {
    ReducedAxes axes;
    axes.place = KEPT_PLACE + 1 + argument(KEPT_PLACE) * AXIS_WORDS;
    axes.size = argument(axes.place + 1);
    axes.multiplier = argument(axes.place + 2);
    axes.shift = argument(axes.place + 3);
    axes.strides = ivec2(argument(axes.place + 4), 0);
    if (REDUCED_AXES == 2) axes.strides.y = int(argument(axes.place + 4 + AXIS_WORDS));
    return axes;
}

int reduced_offset(ReducedAxes axes, uint index) {
    if (REDUCED_AXES == 1) return int(index) * axes.strides.x;
    if (REDUCED_AXES != 2) return offset_along(axes.place, index);
    uint outer = quotient(index, axes.multiplier, axes.shift);
    return int(index - outer * axes.size) * axes.strides.x + int(outer) * axes.strides.y;
}

#endif
