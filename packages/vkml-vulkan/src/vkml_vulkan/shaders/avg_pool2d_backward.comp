// Each element's share of the gradients of the windows that cover it.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "average.glsl"

void main() {
    uint number = invocation_index();
    if (number >= argument(6)) return;
    Spot spot = find_spot(number);
    ivec2 first, end;
    covering_windows(spot.at, first, end);
    Value total = value_zero();
    for (int i = first.x; i < end.x; i++) {
        Value row = value_zero();
        for (int j = first.y; j < end.y; j++) {
            ivec2 window = ivec2(i, j);
            Value gradient = load(address_argument(2), spot.offset + offset_in_plane(window), CODE);
            row += gradient * share_of_window(window);
        }
        total += row;
    }
    store(address_argument(0), int(number), total, CODE);
}
