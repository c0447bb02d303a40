// Rows with mean 0 and deviation 1, or over their root mean square; then scaled and shifted by one
// factor and summand for each element of a row, or for each row. Arrays: the result, the operand.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 2
#define NUMBERS 6  // epsilon; the addresses of weight, bias, mean, variance and 1 / deviation
#include "normalization.glsl"

struct Statistics {
    Value mean;
    Value residual;  // what rounding of the mean left in the centred values
    Value variance;
};

Statistics find_statistics(Row row) {
    uint length = row_length();
    Value count = Value(length);
    Statistics found = Statistics(Value(0), Value(0), Value(0));
    Sum sum = no_sum();
    if (has(CENTRES)) {
        for (uint index = first_element(); index < length; index += stride()) {
            Value x[MOST];
            load_some(1, row, index, x);
            add(sum, sum_of(x));
        }
        found.mean = row_sum(sum) / count;
    }
    Sum rest = no_sum(), squares = no_sum();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST], square[MOST];
        load_some(1, row, index, x);
        for (uint each = 0; each < width(); each++) {
            x[each] -= found.mean;
            square[each] = x[each] * x[each];
        }
        if (has(CENTRES)) add(rest, sum_of(x));
        add(squares, sum_of(square));
    }
    if (has(CENTRES)) found.residual = row_sum(rest) / count;
    found.variance = row_sum(squares) / count - found.residual * found.residual;
    return found;
}

void main() {
    uint place = row_index();
    if (!is_row(place)) return;
    Row row = find_row(place);
    Statistics found = find_statistics(row);
    Value rstd = Value(1) / sqrt(found.variance + number(0));
    uint length = row_length();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST], weight[MOST], bias[MOST];
        load_some(1, row, index, x);
        if (has(WEIGHT)) load_parameter(1, place, index, weight);
        if (has(BIAS)) load_parameter(2, place, index, bias);
        for (uint each = 0; each < width(); each++) {
            x[each] = ((x[each] - found.mean) - found.residual) * rstd;
            if (has(WEIGHT)) x[each] *= weight[each];
            if (has(BIAS)) x[each] += bias[each];
        }
        store_some(0, row, index, x);
    }
    if (!speaks_for_row()) return;
    if (has(CENTRES))
        store(address_number(3), int(place), found.mean + found.residual, STATISTICS_CODE);
    if (has(PER_ROW)) store(address_number(4), int(place), found.variance, STATISTICS_CODE);
    store(address_number(5), int(place), rstd, STATISTICS_CODE);
}
