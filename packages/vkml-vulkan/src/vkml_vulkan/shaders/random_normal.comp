// Random numbers of mean 0 and deviation 1: the cosine half of Box and Muller's pair. 24 bits of
// each word in float32, which narrower formats are rounded from; all 32 in float64.
// Options: the draw.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 0
#define OPTIONS 4
#include "elementwise.glsl"
#include "philox.glsl"

#ifdef CLASS_F64
#include "logarithm_f64.glsl"
#include "trigonometric_f64.glsl"

double normal_of(uvec2 words) {
    const double UNIT = 2.3283064365386963e-10lf;  // 2^-32
    double radius = (double(words.x) + 1.0lf) * UNIT;  // above 0, for the logarithm
    double angle = double(words.y) * UNIT * 6.283185307179586lf;
    return sqrt(own_log(radius) * -2.0lf) * own_cos(angle);
}
#else
#include "logarithm_f32.glsl"
#include "trigonometric_f32.glsl"

float normal_of(uvec2 words) {
    const float UNIT = 5.9604644775390625e-8;  // 2^-24
    float radius = float((words.x >> 8) + 1u) * UNIT;  // above 0, for the logarithm
    float angle = float(words.y >> 8) * UNIT * 6.2831853;
    return sqrt(own_log(radius) * -2.0) * own_cos(angle);
}
#endif

void main() {
    Places places = find_places();
    Draw draw = draw_argument(OPTIONS_PLACE);
    uvec2 bits[ELEMENTS];
    for (uint each = 0; each < ELEMENTS; each++)
        bits[each] = bits_of_value(normal_of(philox(draw, places.first + each)), RESULT_CODE);
    store_result(places, bits);
}
