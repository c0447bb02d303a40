// Softmax and its logarithm over rows. Arrays: the result, the operand.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 2
#define NUMBERS 0
#include "exponentials.glsl"

const uint LOGARITHM = 1;

// Writes exp(x - largest) and returns its sum: one exponential for each element. Each invocation
// reads again only what it wrote itself.
Value store_exponentials(Row row, Value largest) {
    uint length = row_length();
    Sum sum = no_sum();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(1, row, index, x);
        for (uint each = 0; each < width(); each++) x[each] = own_exp(x[each] - largest);
        store_some(0, row, index, x);
        add(sum, sum_of(x));
    }
    return row_sum(sum);
}

void scale_exponentials(Row row, Value factor) {
    uint length = row_length();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(0, row, index, x);
        for (uint each = 0; each < width(); each++) x[each] *= factor;
        store_some(0, row, index, x);
    }
}

void store_quotients(Row row, Value largest, Value factor) {
    uint length = row_length();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(1, row, index, x);
        for (uint each = 0; each < width(); each++) x[each] = own_exp(x[each] - largest) * factor;
        store_some(0, row, index, x);
    }
}

void store_logarithms(Row row, Value largest, Value logarithm) {
    uint length = row_length();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(1, row, index, x);
        for (uint each = 0; each < width(); each++) x[each] = (x[each] - largest) - logarithm;
        store_some(0, row, index, x);
    }
}

void main() {
    uint index = row_index();
    if (!is_row(index)) return;
    Row row = find_row(index);
    Value largest = row_largest(1, row);
    if (OPERATION == LOGARITHM) {
        store_logarithms(row, largest, own_log(row_exponential_sum(1, row, largest)));
    } else if (CODE >= STORED_WORD) {
        scale_exponentials(row, Value(1) / store_exponentials(row, largest));
    } else {
        // Half precision would lose digits of what is not yet divided.
        store_quotients(row, largest, Value(1) / row_exponential_sum(1, row, largest));
    }
}
