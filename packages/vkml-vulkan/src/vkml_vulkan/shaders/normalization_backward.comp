// The backward halves of the normalizations of rows. Arrays: the gradient of the input, the upstream
// gradient, the input. With PER_ROW, the gradients of weight and bias are sums over a row.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 3
#define NUMBERS 5  // addresses: weight, mean, 1 / deviation, gradients of weight and of bias
#include "normalization.glsl"

void main() {
    uint place = row_index();
    if (!is_row(place)) return;
    Row row = find_row(place);
    Value mean = has(CENTRES) ? load(address_number(1), int(place), STATISTICS_CODE) : Value(0);
    Value rstd = load(address_number(2), int(place), STATISTICS_CODE);
    // The weight of a row is taken out of its sums.
    bool is_weighted = has(WEIGHT) && !has(PER_ROW);
    uint length = row_length();
    Sum upstream = no_sum(), product = no_sum();
    for (uint index = first_element(); index < length; index += stride()) {
        Value g[MOST], x[MOST], weight[MOST];
        load_some(1, row, index, g);
        load_some(2, row, index, x);
        if (is_weighted) load_parameter(0, place, index, weight);
        for (uint each = 0; each < width(); each++) {
            if (is_weighted) g[each] *= weight[each];
            x[each] = (x[each] - mean) * rstd * g[each];
        }
        if (has(CENTRES)) add(upstream, sum_of(g));
        add(product, sum_of(x));
    }
    Value total = has(CENTRES) ? row_sum(upstream) : Value(0);
    Value slope = row_sum(product);
    if (has(PER_ROW) && speaks_for_row()) {
        store(address_number(3), int(place), slope, CODE);
        store(address_number(4), int(place), total, CODE);
    }
    if (!has(TO_INPUT)) return;
    Value gain = rstd;
    if (has(WEIGHT) && has(PER_ROW)) gain *= load(address_number(0), int(place), CODE);
    total /= Value(length);
    slope /= Value(length);
    for (uint index = first_element(); index < length; index += stride()) {
        Value g[MOST], x[MOST], weight[MOST];
        load_some(1, row, index, g);
        load_some(2, row, index, x);
        if (is_weighted) load_parameter(0, place, index, weight);
        for (uint each = 0; each < width(); each++) {
            if (is_weighted) g[each] *= weight[each];
            x[each] = (g[each] - total - (x[each] - mean) * rstd * slope) * gain;
        }
        store_some(0, row, index, x);
    }
}
