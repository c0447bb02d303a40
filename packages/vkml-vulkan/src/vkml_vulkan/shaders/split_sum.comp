// The last stage of a contraction whose sum was split: adds up the parts, and the bias.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "arithmetic.glsl"

layout(constant_id = 2) const uint RESULT_CODE = STORED_WORD;

const uint RESULT = 0;
const uint PARTS = 2;  // one after the other, each like the result
const uint BIAS = 4;   // address 0: none
const uint COUNT = 6;
const uint SPLITS = 7;
const uint BIAS_RUN = 8;  // elements that share one of the bias; multiplier; shift
const uint BIAS_SIZE = 11;
const uint BIAS_STRIDE = 14;

const uint SUMMED_AT_ONCE = 16;  // so that rounding errors of many parts stay small

#if defined(CLASS_I64) || defined(CLASS_U64) || defined(CLASS_F64)
const uint PART_CODE = STORED_PAIR;
#else
const uint PART_CODE = STORED_WORD;
#endif

Value add_bias(uvec2 bias, uint index, Value value) {
    uint run = quotient(index, argument(BIAS_RUN + 1), argument(BIAS_RUN + 2));
    uint round = quotient(run, argument(BIAS_SIZE + 1), argument(BIAS_SIZE + 2));
    int place = int((run - round * argument(BIAS_SIZE)) * argument(BIAS_STRIDE));
    return value_add(value, load(bias, place, RESULT_CODE));
}

void main() {
    uint index = invocation_index(), count = argument(COUNT), splits = argument(SPLITS);
    if (index >= count) return;
    uvec2 parts = address_argument(PARTS), bias = address_argument(BIAS);
    Value total = value_zero();
    for (uint first = 0; first < splits; first += SUMMED_AT_ONCE) {
        Value sum = value_zero();
        uint end = min(first + SUMMED_AT_ONCE, splits);
        for (uint split = first; split < end; split++)
            sum = value_add(sum, load(parts, int(split * count + index), PART_CODE));
        total = value_add(total, sum);
    }
    if ((bias.x | bias.y) != 0u) total = add_bias(bias, index, total);
    store(address_argument(RESULT), int(index), total, RESULT_CODE);
}
