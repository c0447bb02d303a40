// How much an element counts in the average of a window.
#ifndef AVERAGE_GLSL
#define AVERAGE_GLSL

#include "pooling.glsl"

layout(constant_id = 3) const bool COUNTS_PADDING = true;

Value share_of_window(ivec2 window) {
    ivec2 begin = window * window_step() - padding();
    ivec2 end = min(begin + window_size(), plane_size() + padding());
    if (!COUNTS_PADDING) {
        begin = max(begin, 0);
        end = min(end, plane_size());
    }
    return Value(1) / Value((end.x - begin.x) * (end.y - begin.y));
}

#endif
