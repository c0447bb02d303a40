// The gradient of the mean squared error: the difference times the upstream gradient and a number.
// Operands: the upstream gradient, both sides.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 3
#define OPTIONS 2
#include "elementwise.glsl"

void main() {
    Places places = find_places();
    uvec2 upstream[ELEMENTS], x[ELEMENTS], y[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, upstream);
    load_operand(1, OPERAND_CODE, places, x);
    load_operand(2, OPERAND_CODE, places, y);
    Value factor = number_argument(OPTIONS_PLACE);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value difference =
            value_of_bits(x[each], OPERAND_CODE) - value_of_bits(y[each], OPERAND_CODE);
        Value scale = value_of_bits(upstream[each], OPERAND_CODE) * factor;
        x[each] = bits_of_value(difference * scale, RESULT_CODE);
    }
    store_result(places, x);
}
