// Values of the module's class as unsigned integers of the same order; see ordering.glsl.
#ifndef KEYS_GLSL
#define KEYS_GLSL

#include "values.glsl"
#include "ordering.glsl"

#if defined(CLASS_I64) || defined(CLASS_U64) || defined(CLASS_F64)
#define Key uvec2
#else
#define Key uint
#endif

#if defined(CLASS_F64)
#include "numbers_f64.glsl"

uvec2 order_key(double x) {
    if (is_nan(x)) return uvec2(NAN_KEY);
    uvec2 bits = unpackDouble2x32(x);
    return (bits.y & SIGN_BIT) != 0u ? ~bits : uvec2(bits.x, bits.y | SIGN_BIT);
}

double double_of_key(uvec2 key) {
    return packDouble2x32((key.y & SIGN_BIT) != 0u ? uvec2(key.x, key.y ^ SIGN_BIT) : ~key);
}
#endif

bool key_less(uint x, uint y) { return x < y; }

bool key_less(uvec2 x, uvec2 y) { return x.y < y.y || (x.y == y.y && x.x < y.x); }

// The largest value has the largest key.
Key value_key(Value x) {
#if defined(CLASS_U32) || defined(CLASS_U64)
    return x;
#elif defined(CLASS_I64)
    return uvec2(x.x, x.y ^ SIGN_BIT);
#else
    return order_key(x);
#endif
}

Value value_of_key(Key key) {
#if defined(CLASS_F32)
    return float_of_key(key);
#elif defined(CLASS_F64)
    return double_of_key(key);
#elif defined(CLASS_I32)
    return int_of_key(key);
#elif defined(CLASS_I64)
    return uvec2(key.x, key.y ^ SIGN_BIT);
#else
    return key;
#endif
}

// The smallest value has the largest key, but for NaN.
Key reverse_key(Value x) {
#if defined(CLASS_F32) || defined(CLASS_F64)
    if (is_nan(x)) return Key(NAN_KEY);
#endif
    return ~value_key(x);
}

Value value_of_reverse_key(Key key) {
#if defined(CLASS_F32) || defined(CLASS_F64)
    if (key == Key(NAN_KEY)) return value_of_key(key);
#endif
    return value_of_key(~key);
}

#endif
