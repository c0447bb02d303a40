// Matrices with zeros above or below a diagonal. Elements are moved, not looked at. The options are
// size, multiplier and shift of the columns and of the rows, and the number of the diagonal.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 1
#define OPTIONS 7
#include "elementwise.glsl"

const uint LOWER = 0;  // OPERATION: what lies up to the diagonal stays; else what lies from it on

bool stays(uint index) {
    uint place = OPTIONS_PLACE;
    uint rest = quotient(index, argument(place + 1), argument(place + 2));
    int column = int(index - rest * argument(place));
    uint matrix = quotient(rest, argument(place + 4), argument(place + 5));
    int row = int(rest - matrix * argument(place + 3));
    int diagonal = int(argument(place + 6));
    return OPERATION == LOWER ? column - row <= diagonal : column - row >= diagonal;
}

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    for (uint each = 0; each < ELEMENTS; each++)
        if (!stays(places.first + each)) bits[each] = uvec2(0u);
    store_result(places, bits);
}
