// Running sums over a workgroup. All its invocations call them together:
//
//   workgroup_sum_before(float | uint x, out total), double in CLASS_F64: the sum over the lanes
//       before this one, and over all
//   workgroup_sum_before_long(uvec2 x, out total): 64-bit integers, low word first
//
// Lanes are counted by workgroup_lane(). With SUBGROUP all subgroups have to be whole. See also
// workgroup.glsl.
#ifndef WORKGROUP_SCAN_GLSL
#define WORKGROUP_SCAN_GLSL

#include "workgroup.glsl"

uint workgroup_lane() {
#ifdef SUBGROUP
    // Subgroups need not be cut from the workgroup in the order of its indices.
    return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
#else
    return gl_LocalInvocationIndex;
#endif
}

#ifdef SUBGROUP

#define DEFINE_SCAN(TYPE, ARRAY)                                                               \
    TYPE workgroup_sum_before(TYPE x, out TYPE total) {                                        \
        TYPE before = subgroupExclusiveAdd(x);                                                 \
        total = subgroupAdd(x);                                                                \
        if (SUBGROUP_SIZE == WORKGROUP) return before;                                         \
        if (subgroupElect()) ARRAY[gl_SubgroupID] = total;                                     \
        barrier();                                                                             \
        TYPE sum = TYPE(0);                                                                    \
        TYPE start = TYPE(0);                                                                  \
        for (uint each = 0; each < gl_NumSubgroups; each++) {                                  \
            if (each == gl_SubgroupID) start = sum;                                            \
            sum += ARRAY[each];                                                                \
        }                                                                                      \
        barrier();                                                                             \
        total = sum;                                                                           \
        return start + before;                                                                 \
    }

#else

// Hillis and Steele, "Data parallel algorithms" (CACM 1986): after step k each lane has the sum of
// the 2^k lanes that end with it.
#define DEFINE_SCAN(TYPE, ARRAY)                                                               \
    TYPE workgroup_sum_before(TYPE x, out TYPE total) {                                        \
        uint self = gl_LocalInvocationIndex;                                                   \
        ARRAY[self] = x;                                                                       \
        barrier();                                                                             \
        [[dont_unroll]] for (uint back = 1; back < WORKGROUP; back *= 2) {                     \
            TYPE more = self >= back ? ARRAY[self - back] : TYPE(0);                           \
            barrier();                                                                         \
            ARRAY[self] += more;                                                               \
            barrier();                                                                         \
        }                                                                                      \
        TYPE before = self > 0 ? ARRAY[self - 1] : TYPE(0);                                    \
        total = ARRAY[WORKGROUP - 1];                                                          \
        barrier();                                                                             \
        return before;                                                                         \
    }

#endif

DEFINE_SCAN(uint, shared_uints)
DEFINE_SCAN(float, shared_floats)
#ifdef CLASS_F64
DEFINE_SCAN(double, shared_doubles)
#endif

uvec2 sum_of_parts(uint low, uint middle, uint high) {
    middle += low >> 16;
    return uvec2((low & 0xFFFFu) | (middle << 16), high + (middle >> 16));
}

uvec2 workgroup_sum_before_long(uvec2 x, out uvec2 total) {
    uvec3 totals;
    uint low = workgroup_sum_before(x.x & 0xFFFFu, totals.x);
    uint middle = workgroup_sum_before(x.x >> 16, totals.y);
    uint high = workgroup_sum_before(x.y, totals.z);
    total = sum_of_parts(totals.x, totals.y, totals.z);
    return sum_of_parts(low, middle, high);
}

#endif
