// Elements set to 0 at random, the others scaled; and which were kept. Options: the address of the
// mask, which is dense and begins a chunk of memory; the draw; in 24 bits, the number that an
// element is kept from; the scale.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 1
#define OPTIONS 10
#include "elementwise.glsl"
#include "philox.glsl"

void main() {
    Places places = find_places();
    if (places.limit == 0u) return;
    uvec2 mask_address = address_argument(OPTIONS_PLACE);
    Draw draw = draw_argument(OPTIONS_PLACE + 2);
    uint smallest = argument(OPTIONS_PLACE + 6);
    Value scale = number_argument(OPTIONS_PLACE + 8);
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    uint mask = 0u;
    for (uint each = 0; each < ELEMENTS; each++) {
        bool kept = philox(draw, places.first + each).x >> 8 >= smallest;
        mask |= uint(kept) << (8 * each);
        Value x = value_of_bits(bits[each], OPERAND_CODE);
        bits[each] = kept ? bits_of_value(x * scale, RESULT_CODE) : uvec2(0u);
    }
    store_result(places, bits);
    // The mask's memory ends with a whole word, too.
    Words(mask_address).at[places.first / ELEMENTS] = mask;
}
