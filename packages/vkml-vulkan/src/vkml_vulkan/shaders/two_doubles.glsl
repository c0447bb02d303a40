#ifndef TWO_DOUBLES_GLSL
#define TWO_DOUBLES_GLSL

// As two_floats.glsl: numbers of about 106 bits as the exact sum of two doubles.

dvec2 two_sum(double a, double b) {
    precise double sum = a + b;
    precise double rest = sum - a;
    precise double lost = (a - (sum - rest)) + (b - rest);
    return dvec2(sum, lost);
}

// For |a| >= |b|.
dvec2 fast_two_sum(double a, double b) {
    precise double sum = a + b;
    precise double lost = b - (sum - a);
    return dvec2(sum, lost);
}

// The first 26 bits of a.
double upper_half(double a) {
    return packDouble2x32(unpackDouble2x32(a) & uvec2(0xf8000000u, 0xffffffffu));
}

dvec2 two_product(double a, double b) {
    precise double a_low = a - upper_half(a);
    precise double b_low = b - upper_half(b);
    precise double product = a * b;
    precise double lost = upper_half(a) * upper_half(b) - product;
    lost += upper_half(a) * b_low;
    lost += a_low * upper_half(b);
    lost += a_low * b_low;
    return dvec2(product, lost);
}

dvec2 add_pairs(dvec2 a, dvec2 b) {
    precise dvec2 sum = two_sum(a.x, b.x);
    sum.y += a.y + b.y;
    return fast_two_sum(sum.x, sum.y);
}

dvec2 multiply_pairs(dvec2 a, dvec2 b) {
    precise dvec2 product = two_product(a.x, b.x);
    product.y += a.x * b.y + a.y * b.x;
    return fast_two_sum(product.x, product.y);
}

dvec2 divide_pair(double a, dvec2 b) {
    precise double quotient = a / b.x;
    precise dvec2 product = two_product(quotient, b.x);
    precise double rest = ((a - product.x) - product.y) - quotient * b.y;
    return fast_two_sum(quotient, rest / b.x);
}

#endif
