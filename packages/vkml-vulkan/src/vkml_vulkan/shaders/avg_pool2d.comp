// The average of each window.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "average.glsl"

void main() {
    uint number = invocation_index();
    if (number >= argument(6)) return;
    Spot spot = find_spot(number);
    ivec2 begin = spot.at * window_step() - padding();
    ivec2 end = min(begin + window_size(), plane_size());
    begin = max(begin, 0);
    Value total = value_zero();
    for (int i = begin.x; i < end.x; i++) {
        Value row = value_zero();
        for (int j = begin.y; j < end.y; j++)
            row += load(address_argument(2), spot.offset + offset_in_plane(ivec2(i, j)), CODE);
        total += row;
    }
    store(address_argument(0), int(number), total * share_of_window(spot.at), CODE);
}
