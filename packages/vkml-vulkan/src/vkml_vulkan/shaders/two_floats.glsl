#ifndef TWO_FLOATS_GLSL
#define TWO_FLOATS_GLSL

// Numbers of about 48 bits as the exact sum of two floats, the larger in x (Dekker 1971, Knuth).
// `precise` everywhere: contraction or reassociation would lose the part that was rounded off.
// fma() is not used, because it need not be fused.

vec2 two_sum(float a, float b) {
    precise float sum = a + b;
    precise float rest = sum - a;
    precise float lost = (a - (sum - rest)) + (b - rest);
    return vec2(sum, lost);
}

// For |a| >= |b|.
vec2 fast_two_sum(float a, float b) {
    precise float sum = a + b;
    precise float lost = b - (sum - a);
    return vec2(sum, lost);
}

// The first 12 bits of a; the rest is exact in 12 bits too.
float upper_half(float a) { return uintBitsToFloat(floatBitsToUint(a) & 0xfffff000u); }

vec2 two_product(float a, float b) {
    precise float a_low = a - upper_half(a);
    precise float b_low = b - upper_half(b);
    precise float product = a * b;
    precise float lost = upper_half(a) * upper_half(b) - product;
    lost += upper_half(a) * b_low;
    lost += a_low * upper_half(b);
    lost += a_low * b_low;
    return vec2(product, lost);
}

vec2 add_pairs(vec2 a, vec2 b) {
    precise vec2 sum = two_sum(a.x, b.x);
    sum.y += a.y + b.y;
    return fast_two_sum(sum.x, sum.y);
}

vec2 multiply_pairs(vec2 a, vec2 b) {
    precise vec2 product = two_product(a.x, b.x);
    product.y += a.x * b.y + a.y * b.x;
    return fast_two_sum(product.x, product.y);
}

// The quotient a / b, right also where the driver's division is only close.
vec2 divide_pair(float a, vec2 b) {
    precise float quotient = a / b.x;
    precise vec2 product = two_product(quotient, b.x);
    precise float rest = ((a - product.x) - product.y) - quotient * b.y;
    return fast_two_sum(quotient, rest / b.x);
}

#endif
