// Batch normalization by given statistics. A row is what one sample has of one channel. Arrays: the
// result, the operand.
#version 460
#extension GL_GOOGLE_include_directive : require

#define ARRAYS 2
#define NUMBERS 6  // epsilon; addresses: mean, variance, weight, bias; the count of channels
#include "rows.glsl"

layout(constant_id = 8) const uint GIVEN_CODE = STORED_WORD;

// Flags in OPERATION.
const uint WEIGHT = 1;
const uint BIAS = 2;

bool has(uint flag) { return (OPERATION & flag) != 0u; }

void main() {
    uint place = row_index();
    if (!is_row(place)) return;
    Row row = find_row(place);
    int channel = int(place % address_number(5).x);
    Value mean = load(address_number(1), channel, GIVEN_CODE);
    Value scale = Value(1) / sqrt(load(address_number(2), channel, GIVEN_CODE) + number(0));
    if (has(WEIGHT)) scale *= load(address_number(3), channel, CODE);
    Value bias = has(BIAS) ? load(address_number(4), channel, CODE) : Value(0);
    uint length = row_length();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(1, row, index, x);
        for (uint each = 0; each < width(); each++) x[each] = (x[each] - mean) * scale + bias;
        store_some(0, row, index, x);
    }
}
