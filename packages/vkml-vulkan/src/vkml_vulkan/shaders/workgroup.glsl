// Reductions over a workgroup. All invocations call them together, outside of branches that some
// do not take, and all get the same result:
//
//   workgroup_sum(float | uint | int), and double in CLASS_F64
//   workgroup_product(float), and double in CLASS_F64
//   workgroup_max(float | uint | int), workgroup_min(float | uint | int); NaN if there is one
//   workgroup_sum_long(uvec2): 64-bit integers, low word first
//   workgroup_max_long(uvec2): unsigned 64-bit integers
//   workgroup_first_largest(uint | uvec2 key, uint place): the smallest place among the largest
//       keys; ordering.glsl makes keys of numbers, and uvec2 are keys of 64 bits
//
// Specialisation constant 2 is the number of invocations of a subgroup, as `Profile.subgroup` has
// it; a shader's own constants begin at 3. With SUBGROUP defined, for modules called *_subgroup,
// subgroups add up by themselves. Where one subgroup is the whole workgroup, as on drivers that run
// on a CPU, nothing is shared and nothing waits. Without SUBGROUP halves are added to halves in
// shared memory. Either way the order of additions depends on the geometry alone.
#ifndef WORKGROUP_GLSL
#define WORKGROUP_GLSL

#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

#extension GL_EXT_control_flow_attributes : require

#include "arguments.glsl"
#include "ordering.glsl"

layout(constant_id = 2) const uint SUBGROUP_SIZE = 1;

shared uint shared_uints[WORKGROUP];
shared float shared_floats[WORKGROUP];
#ifdef CLASS_F64
shared double shared_doubles[WORKGROUP];
#endif

#ifdef SUBGROUP

// The last barrier: the next reduction writes where this one is read.
#define DEFINE_REDUCTION(TYPE, NAME, ARRAY, COMBINE, SUBGROUP_COMBINE)                         \
    TYPE NAME(TYPE x) {                                                                        \
        x = SUBGROUP_COMBINE(x);                                                               \
        if (SUBGROUP_SIZE == WORKGROUP) return x;                                              \
        if (subgroupElect()) ARRAY[gl_SubgroupID] = x;                                         \
        barrier();                                                                             \
        x = ARRAY[0];                                                                          \
        for (uint each = 1; each < gl_NumSubgroups; each++) x = COMBINE(x, ARRAY[each]);       \
        barrier();                                                                             \
        return x;                                                                              \
    }

#else

#define DEFINE_REDUCTION(TYPE, NAME, ARRAY, COMBINE, SUBGROUP_COMBINE)                         \
    TYPE NAME(TYPE x) {                                                                        \
        uint self = gl_LocalInvocationIndex;                                                   \
        ARRAY[self] = x;                                                                       \
        barrier();                                                                             \
        [[dont_unroll]] for (uint count = WORKGROUP; count > 1;) {                             \
            uint kept = (count + 1) / 2;                                                       \
            if (self + kept < count) ARRAY[self] = COMBINE(ARRAY[self], ARRAY[self + kept]);   \
            barrier();                                                                         \
            count = kept;                                                                      \
        }                                                                                      \
        x = ARRAY[0];                                                                          \
        barrier();                                                                             \
        return x;                                                                              \
    }

#endif

#define ADDED(x, y) ((x) + (y))
#define MULTIPLIED(x, y) ((x) * (y))

DEFINE_REDUCTION(uint, workgroup_sum, shared_uints, ADDED, subgroupAdd)
DEFINE_REDUCTION(uint, workgroup_max, shared_uints, max, subgroupMax)
DEFINE_REDUCTION(uint, workgroup_min, shared_uints, min, subgroupMin)
DEFINE_REDUCTION(float, workgroup_sum, shared_floats, ADDED, subgroupAdd)
DEFINE_REDUCTION(float, workgroup_product, shared_floats, MULTIPLIED, subgroupMul)
#ifdef CLASS_F64
DEFINE_REDUCTION(double, workgroup_sum, shared_doubles, ADDED, subgroupAdd)
DEFINE_REDUCTION(double, workgroup_product, shared_doubles, MULTIPLIED, subgroupMul)
#endif

float workgroup_max(float x) { return float_of_key(workgroup_max(order_key(x))); }

float workgroup_min(float x) { return float_of_reverse_key(workgroup_max(reverse_order_key(x))); }

int workgroup_sum(int x) { return int(workgroup_sum(uint(x))); }

int workgroup_max(int x) { return int_of_key(workgroup_max(order_key(x))); }

int workgroup_min(int x) { return int_of_key(workgroup_min(order_key(x))); }

// Halves of the low word are added apart, so that what they carry is not lost.
uvec2 workgroup_sum_long(uvec2 x) {
    uint low = workgroup_sum(x.x & 0xFFFFu);
    uint middle = workgroup_sum(x.x >> 16) + (low >> 16);
    uint high = workgroup_sum(x.y) + (middle >> 16);
    return uvec2((low & 0xFFFFu) | (middle << 16), high);
}

uvec2 workgroup_max_long(uvec2 x) {
    uint high = workgroup_max(x.y);
    return uvec2(workgroup_max(x.y == high ? x.x : 0u), high);
}

uint workgroup_first_largest(uint key, uint place) {
    uint largest = workgroup_max(key);
    return workgroup_min(key == largest ? place : 0xFFFFFFFFu);
}

uint workgroup_first_largest(uvec2 key, uint place) {
    uvec2 largest = workgroup_max_long(key);
    return workgroup_min(key == largest ? place : 0xFFFFFFFFu);
}

#endif
