// Codes of elementwise operations: specialisation constant 2 of their modules. The kernel table
// reads them from this file, by the names in lower case.
#ifndef OPERATION_CODES_GLSL
#define OPERATION_CODES_GLSL

// unary.comp
#define OP_IDENTITY 0
#define OP_NEG 1
#define OP_ABS 2
#define OP_SIGN 3
#define OP_FLOOR 4
#define OP_CEIL 5
#define OP_ROUND 6
#define OP_TRUNC 7
#define OP_SQUARE 8
#define OP_RECIPROCAL 9
#define OP_SQRT 10
#define OP_RSQRT 11
#define OP_EXP 12
#define OP_EXP2 13
#define OP_EXPM1 14
#define OP_LOG 15
#define OP_LOG2 16
#define OP_LOG10 17
#define OP_LOG1P 18
#define OP_SIN 19
#define OP_COS 20
#define OP_TAN 21
#define OP_ASIN 22
#define OP_ACOS 23
#define OP_ATAN 24
#define OP_SINH 25
#define OP_COSH 26
#define OP_TANH 27
#define OP_ERF 28
#define OP_SIGMOID 29
#define OP_BITWISE_NOT 30

// binary.comp
#define OP_ADD 50
#define OP_SUB 51
#define OP_MUL 52
#define OP_DIV 53
#define OP_FLOOR_DIVIDE 54
#define OP_REMAINDER 55
#define OP_POW 56
#define OP_MAXIMUM 57
#define OP_MINIMUM 58
#define OP_BITWISE_AND 59
#define OP_BITWISE_OR 60
#define OP_BITWISE_XOR 61

// predicate.comp
#define OP_LOGICAL_NOT 70
#define OP_ISNAN 71
#define OP_ISINF 72
#define OP_ISFINITE 73

// comparison.comp
#define OP_EQ 80
#define OP_NE 81
#define OP_LT 82
#define OP_LE 83
#define OP_GT 84
#define OP_GE 85
#define OP_LOGICAL_AND 86
#define OP_LOGICAL_OR 87
#define OP_LOGICAL_XOR 88

// activation.comp
#define OP_RELU 100
#define OP_LEAKY_RELU 101
#define OP_ELU 102
#define OP_SILU 103
#define OP_GELU 104
#define OP_GELU_TANH 105
#define OP_SOFTPLUS 106

// activation_backward.comp
#define OP_RELU_BACKWARD 110
#define OP_LEAKY_RELU_BACKWARD 111
#define OP_ELU_BACKWARD 112
#define OP_SILU_BACKWARD 113
#define OP_GELU_BACKWARD 114
#define OP_GELU_TANH_BACKWARD 115
#define OP_SOFTPLUS_BACKWARD 116

#endif
