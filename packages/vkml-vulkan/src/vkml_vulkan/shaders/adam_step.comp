// A step of Adam or AdamW. Without AMSGRAD the fifth array is not touched.
#version 460
#extension GL_GOOGLE_include_directive : require

#define TENSORS 5
#define NUMBERS 8
#include "optimizer_step.glsl"

const uint AMSGRAD = 4;
const uint DECAYS_WEIGHTS = 8;

void main() {
    Range range = find_range();
    if (range.limit == 0u) return;
    Value keep = number(0);  // of the weights, where they decay
    Value weight_decay = number(1);
    Value average_rate = number(2);
    Value square_keep = number(3);
    Value square_rate = number(4);
    Value root_correction = number(5);
    Value epsilon = number(6);
    Value step_size = number(7);
    Value param[ELEMENTS], grad[ELEMENTS], average[ELEMENTS], square[ELEMENTS], largest[ELEMENTS];
    load_range(0, range, param);
    load_range(1, range, grad);
    load_range(2, range, average);
    load_range(3, range, square);
    if (has(AMSGRAD)) load_range(4, range, largest);
    for (uint each = 0; each < ELEMENTS; each++) {
        if (has(DECAYS_WEIGHTS)) param[each] *= keep;
        Value d = descended(param[each], grad[each], weight_decay);
        precise Value moved = average[each] + (d - average[each]) * average_rate;
        precise Value spread = square[each] * square_keep + d * d * square_rate;
        average[each] = moved;
        square[each] = spread;
        if (has(AMSGRAD)) {
            largest[each] = value_maximum(largest[each], spread);
            spread = largest[each];
        }
        precise Value root = sqrt(spread) / root_correction + epsilon;
        precise Value left = param[each] - moved / root * step_size;
        param[each] = left;
    }
    store_range(0, range, param);
    store_range(2, range, average);
    store_range(3, range, square);
    if (has(AMSGRAD)) store_range(4, range, largest);
}
