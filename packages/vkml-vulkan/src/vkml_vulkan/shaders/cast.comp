// Conversion between dtypes, elementwise. OPERATION is the class of the result; with TO_F64 it is
// always float64. What does not fit follows C on x86: low bits of integers stay, floats become the
// most negative number.
#version 460
#extension GL_GOOGLE_include_directive : require

#define OPERANDS 1
#include "elementwise.glsl"
#include "arithmetic.glsl"
#include "integers64.glsl"

const uint TO_F32 = 0;
const uint TO_I32 = 1;
const uint TO_U32 = 2;
const uint TO_I64 = 3;
const uint TO_U64 = 4;

#if defined(CLASS_F32)
float to_float(Value x) { return x; }
uvec2 to_signed(Value x) { return long_of_float(x); }
uvec2 to_unsigned(Value x) { return ulong_of_float(x); }
int to_int(Value x) { return abs(x) < 2147483648.0 ? int(x) : int(0x80000000u); }
#elif defined(CLASS_F64)
float to_float(Value x) { return float(x); }
uvec2 magnitude_of(double x) {
    double upper = floor(x * 2.3283064365386963e-10LF);
    return uvec2(uint(x - upper * 4294967296.0LF), uint(upper));
}
uvec2 to_unsigned(Value x) {
    double whole = abs(trunc(x));
    if (!(whole < 18446744073709551616.0LF)) return uvec2(0u, 0x80000000u);
    return x < 0.0LF ? long_negate(magnitude_of(whole)) : magnitude_of(whole);
}
uvec2 to_signed(Value x) {
    return abs(x) < 9223372036854775808.0LF ? to_unsigned(x) : uvec2(0u, 0x80000000u);
}
int to_int(Value x) { return abs(x) < 2147483648.0LF ? int(x) : int(0x80000000u); }
#elif defined(CLASS_I32)
float to_float(Value x) { return float(x); }
uvec2 to_signed(Value x) { return long_of(x); }
uvec2 to_unsigned(Value x) { return long_of(x); }
int to_int(Value x) { return x; }
#elif defined(CLASS_U32)
float to_float(Value x) { return float(x); }
uvec2 to_signed(Value x) { return uvec2(x, 0u); }
uvec2 to_unsigned(Value x) { return uvec2(x, 0u); }
int to_int(Value x) { return int(x); }
#elif defined(CLASS_I64)
float to_float(Value x) { return float_of_long(x); }
uvec2 to_signed(Value x) { return x; }
uvec2 to_unsigned(Value x) { return x; }
int to_int(Value x) { return int(x.x); }
#elif defined(CLASS_U64)
float to_float(Value x) { return float_of_ulong(x); }
uvec2 to_signed(Value x) { return x; }
uvec2 to_unsigned(Value x) { return x; }
int to_int(Value x) { return int(x.x); }
#endif

#ifdef TO_F64
double to_double(Value x) {
#if defined(CLASS_I64)
    return double(int(x.y)) * 4294967296.0LF + double(x.x);
#elif defined(CLASS_U64)
    return double(x.y) * 4294967296.0LF + double(x.x);
#else
    return double(x);
#endif
}
#endif

uvec2 convert(Value x) {
#ifdef TO_F64
    return unpackDouble2x32(to_double(x));
#else
    if (RESULT_CODE == STORED_BOOL) return uvec2(value_equal(x, value_zero()) ? 0u : 1u, 0u);
    switch (OPERATION) {
    case TO_I32: return uvec2(uint(to_int(x)), 0u);
    case TO_U32: return to_signed(x);
    case TO_I64: return to_signed(x);
    case TO_U64: return to_unsigned(x);
    default: break;
    }
    float number = to_float(x);
    if (RESULT_CODE == STORED_FLOAT16) return uvec2(half_of_float(number), 0u);
    if (RESULT_CODE == STORED_BFLOAT16) return uvec2(bfloat_of_float(number), 0u);
    return uvec2(floatBitsToUint(number), 0u);
#endif
}

void main() {
    Places places = find_places();
    uvec2 bits[ELEMENTS];
    load_operand(0, OPERAND_CODE, places, bits);
    for (uint each = 0; each < ELEMENTS; each++)
        bits[each] = convert(value_of_bits(bits[each], OPERAND_CODE));
    store_result(places, bits);
}
