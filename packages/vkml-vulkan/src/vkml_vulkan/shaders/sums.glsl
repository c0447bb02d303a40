// Long sums, and where statistics are kept.
#ifndef SUMS_GLSL
#define SUMS_GLSL

#include "arithmetic.glsl"

// How statistics lie in memory: float32, or float64.
#if defined(CLASS_F64)
const uint STATISTICS_CODE = STORED_PAIR;
#else
const uint STATISTICS_CODE = STORED_WORD;
#endif

// A long sum in parts, so that its rounding error stays small.
struct Sum {
    Value total;
    Value part;
    uint count;
};

const uint PART = 128;

Sum no_sum() { return Sum(Value(0), Value(0), 0u); }

void add(inout Sum sum, Value x) {
    sum.part += x;
    sum.count += 1u;
    if (sum.count == PART) {
        sum.total += sum.part;
        sum.part = Value(0);
        sum.count = 0u;
    }
}

Value value_of(Sum sum) { return sum.total + sum.part; }

#endif
