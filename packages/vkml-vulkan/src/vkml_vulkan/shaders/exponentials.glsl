// The exponentials of a row, by whose sum softmax and cross entropy divide.
#ifndef EXPONENTIALS_GLSL
#define EXPONENTIALS_GLSL

#include "rows.glsl"

#if defined(CLASS_F64)
#include "math_f64.glsl"
#define INFINITE INFINITY_F64
#else
#include "math_f32.glsl"
#define INFINITE INFINITY_F32
#endif

// The largest element of a row, which keeps exponentials from overflow. NaN may be passed over: the
// sum of the exponentials has it. Where all are -infinity so is this, and the exponentials are NaN.
Value row_largest(uint array, Row row) {
    uint length = row_length();
    Value largest = -INFINITE;
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(array, row, index, x);
        for (uint each = 0; each < width(); each++) largest = x[each] > largest ? x[each] : largest;
    }
    return PER_INVOCATION ? largest : workgroup_largest(largest);
}

// The sum of exp(x - largest).
Value row_exponential_sum(uint array, Row row, Value largest) {
    uint length = row_length();
    Sum sum = no_sum();
    for (uint index = first_element(); index < length; index += stride()) {
        Value x[MOST];
        load_some(array, row, index, x);
        for (uint each = 0; each < width(); each++) x[each] = own_exp(x[each] - largest);
        add(sum, sum_of(x));
    }
    return row_sum(sum);
}

#endif
