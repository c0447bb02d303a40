// Sums of any length, element by element. Elements are added up in groups, and groups in groups of
// groups, so that the error of a sum grows with the length of its levels, not with its own.
#ifndef RUNNING_SUM_GLSL
#define RUNNING_SUM_GLSL

#include "arithmetic.glsl"

struct RunningSum {
    Value group;
    Value groups;
    Value rest;
    uint count;
};

RunningSum empty_sum() { return RunningSum(value_zero(), value_zero(), value_zero(), 0u); }

void add_to(inout RunningSum sum, Value value) {
    sum.group = value_add(sum.group, value);
    sum.count++;
    if ((sum.count & 63u) != 0u) return;
    sum.groups = value_add(sum.groups, sum.group);
    sum.group = value_zero();
    if ((sum.count & 4095u) != 0u) return;
    sum.rest = value_add(sum.rest, sum.groups);
    sum.groups = value_zero();
}

Value total_of(RunningSum sum) {
    return value_add(value_add(sum.rest, sum.groups), sum.group);
}

#endif
