// Sums, products, extremes and questions over axes, and where extremes lie.
#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif

#include "arithmetic.glsl"
#include "keys.glsl"
#include "reduction_axes.glsl"
#include "workgroup.glsl"

#ifdef CLASS_F32
#include "exponential_f32.glsl"
#include "logarithm_f32.glsl"
#endif

// The codes stand in kernels/reduction.py too.
const uint SUM = 0;
const uint MEAN = 1;       // the number among the arguments is the divisor
const uint PRODUCT = 2;
const uint MAXIMUM = 3;
const uint MINIMUM = 4;
const uint ANY = 5;
const uint ALL = 6;
const uint ARGMAX = 7;
const uint ARGMIN = 8;
const uint LOGSUMEXP = 9;  // float32 alone

// Partial results have companions: places of extremes, largest values of exponents.
const uint NO_COMPANIONS = 0;
const uint COMPANIONS_WRITTEN = 1;
const uint COMPANIONS_READ = 2;
layout(constant_id = 10) const uint COMPANIONS = NO_COMPANIONS;

const uint NOWHERE = 0xFFFFFFFFu;

// Long sums are sums of sums of so many steps, which round less.
const uint BLOCK = 64;

bool has_places() { return OPERATION == ARGMAX || OPERATION == ARGMIN; }

// What is known of some elements; an operation uses some of the members.
struct State {
    Value value;  // sums and products
    Key key;      // extremes and questions
    uint place;   // of the extreme
    float shift;  // value is a sum of exp(x - shift)
};

State nothing() {
    return State(OPERATION == PRODUCT ? value_one() : value_zero(), Key(0u), NOWHERE, -INFINITY_F32);
}

bool is_true(Value x) {
#if defined(CLASS_F32) || defined(CLASS_F64)
    return !is_zero(x);
#else
    return !value_equal(x, value_zero());
#endif
}

Key truth_key(bool truth) {
#if defined(CLASS_I64) || defined(CLASS_U64) || defined(CLASS_F64)
    return uvec2(truth ? 1u : 0u, 0u);
#else
    return truth ? 1u : 0u;
#endif
}

// 0 and -0 are the same to the question where the extreme lies.
Value without_sign_of_zero(Value x) {
#if defined(CLASS_F32) || defined(CLASS_F64)
    return is_zero(x) ? value_zero() : x;
#else
    return x;
#endif
}

State state_of(Value x, uint companion) {
    State state = nothing();
    switch (OPERATION) {
    case MAXIMUM: state.key = value_key(x); break;
    case MINIMUM: state.key = reverse_key(x); break;
    case ANY: state.key = truth_key(is_true(x)); break;
    case ALL: state.key = truth_key(!is_true(x)); break;
    case ARGMAX: state.key = value_key(without_sign_of_zero(x)); break;
    case ARGMIN: state.key = reverse_key(without_sign_of_zero(x)); break;
    default: state.value = x; break;
    }
    state.place = companion;
#ifdef CLASS_F32
    if (OPERATION == LOGSUMEXP && COMPANIONS == COMPANIONS_READ) {
        state.shift = uintBitsToFloat(companion);
    } else if (OPERATION == LOGSUMEXP) {
        // exp(x - x) is 1, of infinities too.
        state.value = is_nan(x) ? x : 1.0;
        state.shift = is_nan(x) ? -INFINITY_F32 : x;
    }
#endif
    return state;
}

#ifdef CLASS_F32
// exp(x - y), which is 1 for equal infinities.
float exp_of_difference(float x, float y) { return x == y ? 1.0 : own_exp(x - y); }

State sum_of_exponentials(State x, State y) {
    State more = x.shift < y.shift ? y : x;
    State less = x.shift < y.shift ? x : y;
    more.value += less.value * exp_of_difference(less.shift, more.shift);
    return more;
}
#endif

State combined(State x, State y) {
    switch (OPERATION) {
    case SUM:
    case MEAN: x.value = value_add(x.value, y.value); break;
    case PRODUCT: x.value = value_multiply(x.value, y.value); break;
#ifdef CLASS_F32
    case LOGSUMEXP: x = sum_of_exponentials(x, y); break;
#endif
    case ARGMAX:
    case ARGMIN:
        if (key_less(x.key, y.key) || (x.key == y.key && y.place < x.place)) x = y;
        break;
    default:
        if (key_less(x.key, y.key)) x = y;
        break;
    }
    return x;
}

// Over lanes ----------------------------------------------------------------------------

shared State shared_states[WORKGROUP];

// Halves onto halves, in shared memory.
State over_lanes_by_halves(State state, uint lane) {
    uint self = gl_LocalInvocationIndex;
    uint apart = LANES_APART ? COLUMNS : 1u;
    shared_states[self] = state;
    barrier();
    [[dont_unroll]] for (uint half_count = LANES / 2; half_count > 0; half_count /= 2) {
        if (lane < half_count)
            shared_states[self] =
                combined(shared_states[self], shared_states[self + half_count * apart]);
        barrier();
    }
    state = shared_states[self - lane * apart];
    barrier();
    return state;
}

#ifdef SUBGROUP
uint over_workgroup(uint key) { return workgroup_max(key); }

uvec2 over_workgroup(uvec2 key) { return workgroup_max_long(key); }

Value sum_over_workgroup(Value x) {
#if defined(CLASS_I64) || defined(CLASS_U64)
    return workgroup_sum_long(x);
#else
    return workgroup_sum(x);
#endif
}

State over_workgroup(State state) {
    switch (OPERATION) {
    case SUM:
    case MEAN: state.value = sum_over_workgroup(state.value); break;
#ifdef CLASS_F32
    case LOGSUMEXP: {
        float shift = workgroup_max(state.shift);
        state.value *= exp_of_difference(state.shift, shift);
        state.value = workgroup_sum(state.value);
        state.shift = shift;
        break;
    }
#endif
#if defined(CLASS_F32) || defined(CLASS_F64)
    case PRODUCT: state.value = workgroup_product(state.value); break;
#endif
    default: {
        Key largest = over_workgroup(state.key);
        if (has_places()) state.place = workgroup_min(state.key == largest ? state.place : NOWHERE);
        state.key = largest;
        break;
    }
    }
    return state;
}

bool has_subgroup_form() {
#if defined(CLASS_F32) || defined(CLASS_F64)
    return true;
#else
    return OPERATION != PRODUCT;
#endif
}
#endif

State over_lanes(State state, uint lane) {
    if (LANES == 1) return state;
#ifdef SUBGROUP
    if (LANES == WORKGROUP && has_subgroup_form()) return over_workgroup(state);
#endif
    return over_lanes_by_halves(state, lane);
}

// Results -------------------------------------------------------------------------------

uvec2 result_bits(State state) {
    Value value = state.value;
    switch (OPERATION) {
#if defined(CLASS_F32) || defined(CLASS_F64)
    case MEAN: value /= number_argument(NUMBER_PLACE); break;
#endif
#ifdef CLASS_F32
    case LOGSUMEXP:
        if (COMPANIONS != COMPANIONS_WRITTEN) value = own_log(value) + state.shift;
        break;
#endif
    case MAXIMUM: value = value_of_key(state.key); break;
    case MINIMUM: value = value_of_reverse_key(state.key); break;
    case ANY: return uvec2(state.key != Key(0u) ? 1u : 0u, 0u);
    case ALL: return uvec2(state.key == Key(0u) ? 1u : 0u, 0u);
    case ARGMAX:
    case ARGMIN:
        if (COMPANIONS != COMPANIONS_WRITTEN) return uvec2(state.place, 0u);
        value = OPERATION == ARGMAX ? value_of_key(state.key) : value_of_reverse_key(state.key);
        break;
    }
    return bits_of_value(value, RESULT_CODE);
}

void write(State state, uint index) {
    store_bits(address_argument(0), int(index), result_bits(state), RESULT_CODE);
    if (COMPANIONS == COMPANIONS_WRITTEN)
        Words(address_argument(4)).at[index] =
            OPERATION == LOGSUMEXP ? floatBitsToUint(state.shift) : state.place;
}

// Reading -------------------------------------------------------------------------------

uint companion(uint position, int offset) {
    if (COMPANIONS == COMPANIONS_READ) return Words(address_argument(4)).at[offset];
    return position;
}

void add_step(inout State states[4], uvec2 address, int offset, uint position) {
    for (uint each = 0; each < WIDTH; each++) {
        Value value = load(address, offset + int(each), OPERAND_CODE);
        uint known = companion(position + each, offset + int(each));
        states[each] = combined(states[each], state_of(value, known));
    }
}

State read_part(Part part) {
    State totals[4];
    for (uint each = 0; each < WIDTH; each++) totals[each] = nothing();
    uvec2 address = address_argument(2);
    int base = kept_offset(part.output_index);
    ReducedAxes axes = find_reduced_axes();
    uint whole = part.stop - (part.stop - part.start) % WIDTH;
    const uint step = LANES * WIDTH;
    uint position = part.start + part.lane * WIDTH;
    while (position < whole) {
        State states[4];
        for (uint each = 0; each < WIDTH; each++) states[each] = nothing();
        uint end = min(whole, position + BLOCK * step);
        for (; position < end; position += step)
            add_step(states, address, base + reduced_offset(axes, position), position);
        for (uint each = 0; each < WIDTH; each++)
            totals[each] = combined(totals[each], states[each]);
    }
    // What is left of a row that is not a multiple of four.
    for (position = whole + part.lane; position < part.stop; position += LANES) {
        int offset = base + reduced_offset(axes, position);
        Value value = load(address, offset, OPERAND_CODE);
        totals[0] = combined(totals[0], state_of(value, companion(position, offset)));
    }
    if (!WIDE) return totals[0];
    return combined(combined(totals[0], totals[1]), combined(totals[2], totals[3]));
}

void main() {
    Part part = find_part();
    State state = over_lanes(read_part(part), part.lane);
    if (part.lane == 0u && !is_empty(part))
        write(state, part.chunk * argument(OUTPUTS_PLACE) + part.output_index);
}
