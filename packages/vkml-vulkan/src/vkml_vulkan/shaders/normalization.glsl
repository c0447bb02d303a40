// What the normalizations of rows and their backward halves share.
#ifndef NORMALIZATION_GLSL
#define NORMALIZATION_GLSL

#include "rows.glsl"

// Flags in OPERATION.
const uint CENTRES = 1;  // the mean is taken away
const uint WEIGHT = 2;
const uint BIAS = 4;
const uint PER_ROW = 8;  // weight and bias are one for each row
const uint TO_INPUT = 16;

bool has(uint flag) { return (OPERATION & flag) != 0u; }

// width() values of a dense parameter, whose address is among the numbers.
void load_parameter(uint which, uint row, uint index, out Value values[MOST]) {
    uvec2 address = address_number(which);
    if (has(PER_ROW)) {
        Value one = load(address, int(row), CODE);
        for (uint each = 0; each < MOST; each++) values[each] = one;
    } else {
        load_at(address, int(index), values);
    }
}

#endif
