// Elements that an index chooses along one axis, moved without a look. Operand 0 is what they are
// taken from, without that axis; operand 1 is the index, whose storage code is OPERATION. The
// options are the size of the axis and its stride.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 2
#define OPTIONS 2
#include "elementwise.glsl"
#include "indices.glsl"

int offset_of_operand(Places places, uint each) {
    if (LAYOUT_0 == STRIDED) return places.offsets[each][1];
    return LAYOUT_0 == DENSE ? int(places.first + each) : 0;
}

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(1, OPERATION, places, bits);
    uvec2 address = address_argument(2);
    uint size = argument(OPTIONS_PLACE);
    int stride = int(argument(OPTIONS_PLACE + 1));
    for (uint each = 0; each < ELEMENTS; each++) {
        if (each >= places.limit) continue;
        uint place = place_of_index(bits[each], OPERATION, size);
        if (place == OUTSIDE) bits[each] = uvec2(0u);
        else {
            int offset = offset_of_operand(places, each) + int(place) * stride;
            bits[each] = load_bits(address, offset, OPERAND_CODE);
        }
    }
    store_result(places, bits);
}
