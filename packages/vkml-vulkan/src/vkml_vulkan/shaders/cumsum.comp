// Running sums along an axis. One invocation walks along a line of elements, or a whole workgroup
// does, each invocation with ELEMENTS neighbours at a time. Long lines are cut into chunks, which
// begin with the sum of what lies before them.
//
// Arguments: the addresses of the result, of the operand and of the running sums of chunks; then, in
// words: the lines, the elements of each, the elements of a chunk, the strides of the operand and
// of the result along the axis; the workgroups of a chunk with multiplier and shift; the number of
// the other axes and for each, the innermost first: size, multiplier, shift, strides of the operand
// and of the result.
#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

#include "arithmetic.glsl"
#include "workgroup_scan.glsl"

#if defined(CLASS_F32)
#include "two_floats.glsl"
#elif defined(CLASS_F64)
#include "numbers_f64.glsl"
#include "two_doubles.glsl"
#endif

const uint LINES_PLACE = 6;
const uint STRIDES_PLACE = 9;
const uint GROUPS_PLACE = 11;
const uint RANK_PLACE = 14;

layout(constant_id = 3) const uint RESULT_CODE = STORED_WORD;
layout(constant_id = 4) const uint OPERAND_CODE = STORED_WORD;
layout(constant_id = 5) const bool TOGETHER = false;  // a workgroup for a line
layout(constant_id = 6) const bool CHUNKED = false;

const uint ELEMENTS = 4;

// A sum of many elements, with what was rounded off of it (Neumaier, "Rundungsfehleranalyse einiger
// Verfahren zur Summation endlicher Summen", ZAMM 1974).
struct Sum {
    Value rounded;
    Value lost;
};

#if defined(CLASS_I64)
Sum added(Sum sum, Value x) { return Sum(value_add(sum.rounded, x), sum.lost); }

Value value_of(Sum sum) { return sum.rounded; }
#else
Sum added(Sum sum, Value x) {
    precise Value lost = sum.lost + two_sum(sum.rounded, x).y;
    sum.rounded += x;
    // An infinity less itself would be NaN.
    sum.lost = is_infinite(sum.rounded) || is_nan(sum.rounded) ? Value(0) : lost;
    return sum;
}

Value value_of(Sum sum) { return sum.rounded + sum.lost; }
#endif

Value sum_before(Value x, out Value total) {
#if defined(CLASS_I64)
    return workgroup_sum_before_long(x, total);
#else
    return workgroup_sum_before(x, total);
#endif
}

// Where a line begins in the operand and in the result.
ivec2 offsets_of_line(uint line) {
    ivec2 offsets = ivec2(0);
    uint rank = argument(RANK_PLACE);
    for (uint axis = 0; axis < rank; axis++) {
        uint place = RANK_PLACE + 1 + axis * 5;
        uint next = quotient(line, argument(place + 1), argument(place + 2));
        int coordinate = int(line - next * argument(place));
        offsets += coordinate * ivec2(argument(place + 3), argument(place + 4));
        line = next;
    }
    return offsets;
}

Value sum_of_chunks_before(uint chunk, uint line, uint lines) {
    if (!CHUNKED || chunk == 0u) return value_zero();
    uint code = bits_of(OPERAND_CODE) == 64u ? STORED_PAIR : STORED_WORD;
    return load(address_argument(4), int((chunk - 1u) * lines + line), code);
}

void walk_alone(Sum sum, uint start, uint stop, ivec2 base, ivec2 strides) {
    uvec2 result = address_argument(0), operand = address_argument(2);
    for (uint position = start; position < stop; position++) {
        ivec2 offsets = base + int(position) * strides;
        sum = added(sum, load(operand, offsets.x, OPERAND_CODE));
        store(result, offsets.y, value_of(sum), RESULT_CODE);
    }
}

void walk_together(Sum sum, uint start, uint stop, ivec2 base, ivec2 strides) {
    uvec2 result = address_argument(0), operand = address_argument(2);
    for (uint tile = start; tile < stop; tile += WORKGROUP * ELEMENTS) {
        uint first = tile + workgroup_lane() * ELEMENTS;
        Value sums[ELEMENTS];
        Value own = value_zero();
        for (uint each = 0; each < ELEMENTS; each++) {
            uint position = first + each;
            if (position < stop)
                own = value_add(own, load(operand, base.x + int(position) * strides.x, OPERAND_CODE));
            sums[each] = own;
        }
        Value total;
        Value before = value_add(value_of(sum), sum_before(own, total));
        for (uint each = 0; each < ELEMENTS; each++) {
            uint position = first + each;
            if (position < stop)
                store(result, base.y + int(position) * strides.y, value_add(before, sums[each]),
                      RESULT_CODE);
        }
        sum = added(sum, total);
    }
}

void main() {
    uint group = workgroup_index();
    uint chunk = quotient(group, argument(GROUPS_PLACE + 1), argument(GROUPS_PLACE + 2));
    uint line = group - chunk * argument(GROUPS_PLACE);
    if (!TOGETHER) line = line * WORKGROUP + gl_LocalInvocationIndex;
    uint lines = argument(LINES_PLACE);
    uint start = chunk * argument(LINES_PLACE + 2);
    uint stop = min(start + argument(LINES_PLACE + 2), argument(LINES_PLACE + 1));
    // The grid may be larger than it has to be.
    if (line >= lines || start >= stop) return;
    ivec2 base = offsets_of_line(line);
    ivec2 strides = ivec2(argument(STRIDES_PLACE), argument(STRIDES_PLACE + 1));
    Sum sum = Sum(sum_of_chunks_before(chunk, line, lines), value_zero());
    if (TOGETHER) walk_together(sum, start, stop, base, strides);
    else walk_alone(sum, start, stop, base, strides);
}
