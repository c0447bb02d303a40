// The first value where a condition holds, else the second. Values are moved, not looked at.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 3
#include "elementwise.glsl"

void main() {
    Places places = find_places();
    uvec2 condition[ELEMENTS], yes[ELEMENTS], no[ELEMENTS];
    load_operand(0, STORED_BOOL, places, condition);
    load_operand(1, OPERAND_CODE, places, yes);
    load_operand(2, OPERAND_CODE, places, no);
    for (uint each = 0; each < ELEMENTS; each++)
        if ((condition[each].x & 0xFFu) == 0u) yes[each] = no[each];
    store_result(places, yes);
}
