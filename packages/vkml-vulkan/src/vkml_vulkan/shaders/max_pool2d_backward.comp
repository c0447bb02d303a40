// The gradient of the maximum of each window, added up for each element that was one.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "pooling.glsl"

void main() {
    uint number = invocation_index();
    if (number >= argument(6)) return;
    Spot spot = find_spot(number);
    ivec2 first, end;
    covering_windows(spot.at, first, end);
    ivec2 count = window_count();
    uint position = uint(spot.at.x * plane_size().y + spot.at.y);
    Value total = value_zero();
    for (int i = first.x; i < end.x; i++)
        for (int j = first.y; j < end.y; j++) {
            int window = (spot.plane * count.x + i) * count.y + j;
            if (load_bits(address_argument(4), window, STORED_PAIR).x != position) continue;
            int offset = spot.offset + offset_in_plane(ivec2(i, j));
            total = value_add(total, load(address_argument(2), offset, CODE));
        }
    store(address_argument(0), int(number), total, CODE);
}
