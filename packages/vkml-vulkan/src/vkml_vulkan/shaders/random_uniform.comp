// Random numbers evenly spread over [0, 1). They have as many bits as the significand of the
// result's format, so that none is rounded up to 1. Options: the draw.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 0
#define OPTIONS 4
#include "elementwise.glsl"
#include "philox.glsl"

#ifdef CLASS_F64
double uniform_of(uvec2 words) {
    return double(words.x) * 2.3283064365386963e-10lf +         // 2^-32
           double(words.y >> 11) * 1.1102230246251565e-16lf;    // 2^-53
}
#else
float uniform_of(uvec2 words) {
    if (RESULT_CODE == STORED_FLOAT16) return float(words.x >> 21) * 4.8828125e-4;  // 2^-11
    if (RESULT_CODE == STORED_BFLOAT16) return float(words.x >> 24) * 3.90625e-3;   // 2^-8
    return float(words.x >> 8) * 5.9604644775390625e-8;                             // 2^-24
}
#endif

void main() {
    Places places = find_places();
    Draw draw = draw_argument(OPTIONS_PLACE);
    uvec2 bits[ELEMENTS];
    for (uint each = 0; each < ELEMENTS; each++)
        bits[each] = bits_of_value(uniform_of(philox(draw, places.first + each)), RESULT_CODE);
    store_result(places, bits);
}
