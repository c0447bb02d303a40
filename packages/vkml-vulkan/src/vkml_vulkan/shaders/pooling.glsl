// Windows over planes. Invocations compute one result each: that of a window, or, backwards, that
// of an element of a plane.
//
// Arguments: the addresses of the result, of the operand and of the positions of maxima; the count
// of results; size, multiplier and shift for their columns, rows and channels; the strides of the
// operand for images, channels, rows and columns; then pairs for rows and columns: the size of a
// plane, the number of windows, their size, their steps, the padding, the steps in a window.
#ifndef POOLING_GLSL
#define POOLING_GLSL

#include "arithmetic.glsl"

layout(constant_id = 2) const uint CODE = STORED_WORD;

const uint DIVISORS = 7;
const uint STRIDES = 16;

ivec2 pair_argument(uint place) { return ivec2(int(argument(place)), int(argument(place + 1))); }

ivec2 plane_size() { return pair_argument(20); }
ivec2 window_count() { return pair_argument(22); }
ivec2 window_size() { return pair_argument(24); }
ivec2 window_step() { return pair_argument(26); }
ivec2 padding() { return pair_argument(28); }
ivec2 dilation() { return pair_argument(30); }

// Where a result lies: its row and column, its plane among all, and the offset of the operand's.
struct Spot {
    ivec2 at;
    int plane;
    int offset;
};

Spot find_spot(uint number) {
    uint parts[3];
    uint rest = number;
    for (uint each = 0; each < 3; each++) {
        uint place = DIVISORS + 3 * each;
        uint next = quotient(rest, argument(place + 1), argument(place + 2));
        parts[each] = rest - next * argument(place);
        rest = next;
    }
    Spot spot;
    spot.at = ivec2(int(parts[1]), int(parts[0]));
    spot.plane = int(rest * argument(DIVISORS + 6) + parts[2]);
    spot.offset = int(rest) * int(argument(STRIDES)) + int(parts[2]) * int(argument(STRIDES + 1));
    return spot;
}

// The offset of an element of the operand in its plane.
int offset_in_plane(ivec2 at) {
    return at.x * int(argument(STRIDES + 2)) + at.y * int(argument(STRIDES + 3));
}

// The windows that may cover an element, as the first and the one after the last.
void covering_windows(ivec2 at, out ivec2 first, out ivec2 end) {
    ivec2 step = window_step();
    ivec2 reach = at + padding();
    ivec2 before = reach - (window_size() - 1) * dilation();
    first = ivec2(before.x > 0 ? (before.x + step.x - 1) / step.x : 0,
                  before.y > 0 ? (before.y + step.y - 1) / step.y : 0);
    end = min(reach / step + 1, window_count());
}

#endif
