"""Which kernel runs each operation. Plain data: operation, kernel module, shader, codes.

An operation without an entry is refused, if it is primitive, or made of other operations. The
kernel itself is `build` in ``kernels/<module>.py``; the shader is ``shaders/<shader>.comp``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

ALL: Final = ("f32", "i32", "u32", "i64", "u64", "f64")
FLOATS: Final = ("f32", "f64")
INTEGERS: Final = ("i32", "u32", "i64", "u64")


class Entry(NamedTuple):
    """The kernel of one operation.

    Attributes
    ----------
    kernel : str
        The module below `vkml_vulkan.kernels`.
    shader : str
        The GLSL source, without its suffix.
    classes : tuple of str
        The compute classes that there are modules for.
    """

    kernel: str
    shader: str
    classes: tuple[str, ...] = ALL


def _entries(names: str, *entry: str | tuple[str, ...]) -> dict[str, Entry]:
    return {name: Entry(*entry) for name in names.split()}  # type: ignore[arg-type]  # a str, a str, a tuple


KERNELS: Final[dict[str, Entry]] = {
    # Elementwise
    **_entries("neg abs sign floor ceil round trunc square reciprocal", "unary", "unary"),
    **_entries(
        "sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
        "erf sigmoid",
        "unary", "unary", FLOATS,
    ),
    **_entries("bitwise_not", "unary", "unary", INTEGERS),
    **_entries("logical_not isnan isinf isfinite", "predicate", "predicate"),
    **_entries("add sub mul floor_divide remainder pow maximum minimum", "binary", "binary"),
    **_entries("div", "binary", "binary", FLOATS),
    **_entries("bitwise_and bitwise_or bitwise_xor", "binary", "binary", INTEGERS),
    **_entries(
        "eq ne lt le gt ge logical_and logical_or logical_xor", "comparison", "comparison"
    ),
    **_entries("contiguous", "copying", "unary"),
    **_entries("cast", "copying", "cast"),
    **_entries("full", "filling", "unary"),
    **_entries("where", "where", "where"),
    **_entries("clamp", "clamp", "clamp"),
    # Fused composites
    **_entries("relu leaky_relu elu silu gelu softplus", "activation", "activation", FLOATS),
    **_entries(
        "relu_backward leaky_relu_backward elu_backward silu_backward gelu_backward "
        "softplus_backward",
        "activation", "activation_backward", FLOATS,
    ),
    **_entries("masked_scale", "masked_scale", "masked_scale", FLOATS),
    **_entries("adam_step", "optimizer_steps", "adam_step", FLOATS),
    **_entries("sgd_step", "optimizer_steps", "sgd_step", FLOATS),
    **_entries("softmax log_softmax", "softmax", "softmax", FLOATS),
    **_entries(
        "softmax_backward log_softmax_backward", "softmax", "softmax_backward", FLOATS
    ),
    **_entries("layer_norm rms_norm", "normalization", "normalization", FLOATS),
    **_entries(
        "layer_norm_backward rms_norm_backward",
        "normalization_backward", "normalization_backward", FLOATS,
    ),
    **_entries("batch_norm_train", "batch_normalization", "normalization", FLOATS),
    **_entries("batch_norm_backward", "batch_normalization", "normalization_backward", FLOATS),
    **_entries("batch_norm_eval", "batch_normalization", "batch_norm_eval", FLOATS),
    **_entries("cross_entropy", "cross_entropy", "cross_entropy", FLOATS),
    **_entries("cross_entropy_backward", "cross_entropy", "cross_entropy_backward", FLOATS),
    **_entries("mse_loss_backward", "mse_loss", "mse_loss_backward", FLOATS),
    # Linear algebra, convolution
    **_entries("matmul", "matmul", "contraction_registers"),
    **_entries("linear", "linear", "contraction_registers"),
    **_entries(
        "conv2d conv2d_input_gradient conv2d_weight_gradient",
        "conv2d", "contraction_registers", FLOATS,
    ),
    # Random numbers
    **_entries("random_uniform", "random", "random_uniform", FLOATS),
    **_entries("random_normal", "random", "random_normal", FLOATS),
    **_entries("random_integers", "random", "random_integers"),
    **_entries("dropout", "dropout", "dropout", FLOATS),
    # Movement and indexing
    **_entries("cat roll", "joining", "unary"),
    **_entries("slice_backward pad", "placing", "unary"),
    **_entries("gather index_select embedding", "gathering", "gather"),
    **_entries("put", "put", "put"),
    **_entries("tril triu", "triangle", "triangle"),
    **_entries("scatter_add_zeros index_add_zeros embedding_backward", "scattering", "segment_sum"),
    # Reductions
    **_entries("sum sum_to_size", "reduction", "reduce", ("f32", "i64", "f64")),
    **_entries("prod", "reduction", "reduce", ("f32", "i64", "f64")),
    **_entries("mean", "reduction", "reduce", FLOATS),
    **_entries("logsumexp", "reduction", "reduce", ("f32",)),
    **_entries("amax amin any all argmax argmin", "reduction", "reduce"),
    **_entries("cumsum", "cumsum", "cumsum", ("f32", "i64", "f64")),
    # Pooling
    **_entries("max_pool2d", "pooling", "max_pool2d"),
    **_entries("max_pool2d_backward", "pooling", "max_pool2d_backward", FLOATS),
    **_entries("avg_pool2d", "pooling", "avg_pool2d", FLOATS),
    **_entries("avg_pool2d_backward", "pooling", "avg_pool2d_backward", FLOATS),
}  # fmt: skip
