// The sum of losses, their mean by the weights of their targets, or the sum of these weights: one
// workgroup for all. "Rows" have one element each, and are taken one after the other.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 1  // the result
#define NUMBERS 5  // the class to ignore; addresses: targets, weights, losses; the count of classes
#define FIRST_ADDRESS 1
#include "rows.glsl"
#include "cross_entropy.glsl"

void main() {
    if (workgroup_index() > 0u) return;
    uint count = row_length();
    uint classes = address_number(4).x;
    Sum losses = no_sum(), weights = no_sum();
    for (uint index = gl_LocalInvocationIndex; index < count; index += WORKGROUP) {
        if (has(LOSSES)) add(losses, load(address_number(3), int(index), STATISTICS_CODE));
        if (has(MEAN)) add(weights, target_weight(target_of(index, classes)));
    }
    Value total = has(LOSSES) ? workgroup_sum(value_of(losses)) : Value(1);
    Value weight = has(MEAN) ? workgroup_sum(value_of(weights)) : Value(1);
    if (gl_LocalInvocationIndex > 0u) return;
    if (has(LOSSES)) {
        store(address_argument(0), 0, has(MEAN) ? total / weight : total, CODE);
    } else {
        store(address_argument(0), 0, weight, STATISTICS_CODE);
    }
}
