// An element times a number where a mask holds, else 0, elementwise.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 2
#define OPTIONS 2
#include "elementwise.glsl"

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS], mask[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    load_operand(1, STORED_BOOL, places, mask);
    Value scale = number_argument(OPTIONS_PLACE);
    for (uint each = 0; each < ELEMENTS; each++) {
        Value scaled = value_of_bits(bits[each], OPERAND_CODE) * scale;
        bool holds = (mask[each].x & 0xFFu) != 0u;
        bits[each] = holds ? bits_of_value(scaled, RESULT_CODE) : uvec2(0u);
    }
    store_result(places, bits);
}
