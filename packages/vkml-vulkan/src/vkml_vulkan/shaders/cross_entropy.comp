// The loss of each row of logits, and the sum of its exponentials. Array: the logits.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 1
#define NUMBERS 6  // label smoothing, the class to ignore; addresses: targets, weights, losses, sums
#define FIRST_ADDRESS 2
#include "exponentials.glsl"
#include "cross_entropy.glsl"

// What smoothing adds: the loss against all classes alike.
Value smooth_loss(Row row, Value largest, Value logarithm) {
    uint length = row_length();
    Sum weighted = no_sum(), weights = no_sum();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST], weight[MOST];
        load_some(0, row, index, x);
        for (uint each = 0; each < width(); each++) {
            weight[each] = weight_of(index + each);
            x[each] = (x[each] - largest) * weight[each];
        }
        add(weighted, sum_of(x));
        add(weights, sum_of(weight));
    }
    return logarithm * row_sum(weights) - row_sum(weighted);
}

void main() {
    uint place = row_index();
    if (!is_row(place)) return;
    Row row = find_row(place);
    uint classes = row_length();
    Value largest = row_largest(0, row);
    Value sum = row_exponential_sum(0, row, largest);
    Value logarithm = own_log(sum);
    uint target = target_of(place, classes);
    Value loss = Value(0);
    if (target != NO_CLASS) {
        Value chosen = load(address_argument(0), element_offset(0, row, target), CODE) - largest;
        loss = (logarithm - chosen) * weight_of(target);
    }
    if (has(SMOOTHED)) {
        Value smoothing = number(0);
        Value smooth_part = smooth_loss(row, largest, logarithm) * (smoothing / Value(classes));
        // A branch, not a factor: also an infinite or NaN loss of an ignored target is none.
        if (target != NO_CLASS) loss = loss * (Value(1) - smoothing) + smooth_part;
    }
    if (!speaks_for_row()) return;
    store(address_number(4), int(place), loss, has(BY_ROW) ? CODE : STATISTICS_CODE);
    store(address_number(5), int(place), sum, STATISTICS_CODE);
}
