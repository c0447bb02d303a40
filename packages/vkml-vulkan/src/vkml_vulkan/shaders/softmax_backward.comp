// The backward halves of softmax and of its logarithm. Arrays: the result, the upstream gradient,
// the output.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 3
#define NUMBERS 0
#include "exponentials.glsl"

const uint LOGARITHM = 1;

void main() {
    uint place = row_index();
    if (!is_row(place)) return;
    Row row = find_row(place);
    uint length = row_length();
    Sum sum = no_sum();
    for (uint index = first_element(); index < length; index += stride()) {
        Value g[MOST], y[MOST];
        load_some(1, row, index, g);
        if (OPERATION != LOGARITHM) {
            load_some(2, row, index, y);
            for (uint each = 0; each < width(); each++) g[each] *= y[each];
        }
        add(sum, sum_of(g));
    }
    Value total = row_sum(sum);
    for (uint index = first_element(); index < length; index += stride()) {
        Value g[MOST], y[MOST];
        load_some(1, row, index, g);
        load_some(2, row, index, y);
        for (uint each = 0; each < width(); each++)
            g[each] = OPERATION == LOGARITHM ? g[each] - own_exp(y[each]) * total
                                             : (g[each] - total) * y[each];
        store_some(0, row, index, g);
    }
}
