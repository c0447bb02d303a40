// A step of stochastic gradient descent. Without MOMENTUM the third array is not touched.
#version 460
#extension GL_GOOGLE_include_directive : require

#define TENSORS 3
#define NUMBERS 4
#include "optimizer_step.glsl"

const uint MOMENTUM = 4;
const uint FIRST = 8;
const uint NESTEROV = 16;

void main() {
    Range range = find_range();
    if (range.limit == 0u) return;
    Value rate = number(0);
    Value weight_decay = number(1);
    Value momentum = number(2);
    Value undamped = number(3);
    Value param[ELEMENTS], grad[ELEMENTS], velocity[ELEMENTS];
    load_range(0, range, param);
    load_range(1, range, grad);
    if (has(MOMENTUM) && !has(FIRST)) load_range(2, range, velocity);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value d = descended(param[each], grad[each], weight_decay);
        if (has(MOMENTUM)) {
            precise Value next = d;
            if (!has(FIRST)) next = velocity[each] * momentum + d * undamped;
            velocity[each] = next;
            precise Value ahead = next * momentum + d;
            d = has(NESTEROV) ? ahead : next;
        }
        precise Value left = param[each] - d * rate;
        param[each] = left;
    }
    store_range(0, range, param);
    if (has(MOMENTUM)) store_range(2, range, velocity);
}
