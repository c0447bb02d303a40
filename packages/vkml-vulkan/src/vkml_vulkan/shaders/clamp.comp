// A value raised to a lower limit, then lowered to an upper one; NaN stays. Bit 0 of the operation
// says that there is a lower limit, bit 1 that there is an upper one.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 3
#include "elementwise.glsl"
#include "arithmetic.glsl"

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    Value low = number_argument(4), high = number_argument(6);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value x = value_of_bits(bits[each], OPERAND_CODE);
        if ((OPERATION & 1u) != 0u) x = value_maximum(x, low);
        if ((OPERATION & 2u) != 0u) x = value_minimum(x, high);
        bits[each] = bits_of_value(x, RESULT_CODE);
    }
    store_result(places, bits);
}
