// The gradient of cross entropy for the logits. Arrays: the gradient, the logits.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 2
// Label smoothing, the class to ignore; addresses: targets, weights, the sums of exponentials, the
// upstream gradient, the sum of the targets' weights.
#define NUMBERS 7
#define FIRST_ADDRESS 2
#include "exponentials.glsl"
#include "cross_entropy.glsl"

Value total_weight() {
    uint length = row_length();
    if (!has(WEIGHTED)) return Value(length);
    Sum weights = no_sum();
    for (uint index = first_element(); index < length; index += stride())
        for (uint each = 0; each < width(); each++) add(weights, weight_of(index + each));
    return row_sum(weights);
}

void main() {
    uint place = row_index();
    if (!is_row(place)) return;
    Row row = find_row(place);
    uint classes = row_length();
    uint target = target_of(place, classes);
    Value upstream = load(address_number(5), has(BY_ROW) ? int(place) : 0, CODE);
    if (has(MEAN)) upstream /= load(address_number(6), 0, STATISTICS_CODE);
    // Where nothing counts, the mean is NaN.
    Value at_target = target == NO_CLASS ? Value(0) : upstream * weight_of(target);
    Value at_all = at_target;
    Value spread = Value(0);
    if (has(SMOOTHED)) {
        Value smoothing = number(0);
        Value weight = total_weight();
        if (target != NO_CLASS) spread = upstream * (smoothing / Value(classes));
        at_target *= Value(1) - smoothing;
        at_all = at_target + spread * weight;
    }
    Value largest = row_largest(1, row);
    Value factor = at_all / load(address_number(4), int(place), STATISTICS_CODE);
    for (uint index = first_element(); index < classes; index += stride()) {
        Value x[MOST];
        load_some(1, row, index, x);
        for (uint each = 0; each < width(); each++) {
            x[each] = own_exp(x[each] - largest) * factor;
            if (index + each == target) x[each] -= at_target;
            if (has(SMOOTHED)) x[each] -= spread * weight_of(index + each);
        }
        store_some(0, row, index, x);
    }
}
