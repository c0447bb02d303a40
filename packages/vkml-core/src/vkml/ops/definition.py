"""Operation records: everything that is known of an operation, in one place.

A record names the operation and holds its result rule, CPU kernel, gradient rule, samples and
tolerance. Shape tests, CPU tests, gradient checks, backend tests and the documentation's tables are
made from the records; nobody writes such a list by hand.

**Gradient rules** receive a namespace of operations, `k`, and values, and return one gradient per
operand::

    def _exp_gradient(k, upstream, output, x):
        return (k.mul(upstream, output),)

In a plain backward pass `k` runs kernels on raw operands; with ``create_graph=True`` the same rule
runs on Tensors, which yields higher derivatives. What a rule needs is read off the names of its
parameters, and nothing else is kept alive:

- ``x``           the operand's value;
- ``x_spec``      only its shape and dtype;
- ``_x``          nothing;
- third parameter ``output`` (the result), ``outputs`` (result and auxiliary results),
  ``auxiliary`` (only these), or ``_output`` (nothing);
- a last parameter ``needs``: a tuple with something true for each operand that wants a gradient.
  Rules whose gradients cost something return None for the others.

**Composites** are one autograd node with a gradient rule of their own. Their decomposition is
written with other operations through `k`; a backend may have a fused kernel for the whole.
A composite whose `gradient` is `THROUGH_DECOMPOSITION` is differentiated by differentiating its
decomposition: the natural choice for the backward half of a fused operation.

**Views** compute a new layout on the same memory; a `cpu` kernel that does the same with NumPy's
own views is optional, and faster.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vkml.backends.interface import Kernel


class Spec(NamedTuple):
    """Shape and dtype of an operand, without data."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class ViewLayout(NamedTuple):
    """The layout of a view. Strides and offset count elements; the offset is the storage's."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


Value: TypeAlias = Any
"""An operand in a plain backward pass, a Tensor under ``create_graph=True``."""


class Ops(Protocol):
    """The namespace that rules and decompositions receive: one function per operation."""

    def __getattr__(self, name: str) -> Callable[..., Value]:
        """Return the operation `name`, called with operands first and options after them."""


class Promotion(enum.Enum):
    """How operands are cast before the kernel sees them."""

    NONE = "each operand keeps its dtype"
    COMMON = "all meet in one dtype"
    FLOATING = "all meet in one floating-point or complex dtype"


class Arity(enum.IntEnum):
    """Special numbers of operands."""

    SEQUENCE = -1
    """The first argument is a sequence of operands, as for `cat`."""


class Sample(NamedTuple):
    """One input on which an operation is tested."""

    operands: tuple[Any, ...]
    """NumPy arrays, Python numbers or None, as the kernel takes them."""
    options: tuple[Any, ...] = ()


Samples: TypeAlias = Callable[[np.random.Generator], Sequence[Sample]]
GradientRule: TypeAlias = Callable[..., tuple[Value | None, ...]]
ResultRule: TypeAlias = Callable[..., Spec | tuple[Spec | None, ...]]


CHECKED_ELSEWHERE: Final[set[ResultRule]] = set()
"""Rules that need not run before every kernel, because somebody else notices what they would.

Either they only fail where shapes do not broadcast, which kernels notice (the rule then runs after
a ValueError, to say what is wrong), or the public function has checked the options already.
"""


class _ThroughDecomposition:
    def __repr__(self) -> str:
        return "THROUGH_DECOMPOSITION"


THROUGH_DECOMPOSITION: Final = _ThroughDecomposition()
"""The gradient of such a composite comes from differentiating its decomposition."""


class Keep(enum.Enum):
    """What a recorded operation keeps of an operand or a result for its gradient rule."""

    VALUE = "value"
    SPEC = "spec"
    NOTHING = "nothing"


class KeepResult(enum.Enum):
    """What a recorded operation keeps of its results."""

    RESULT = "output"
    ALL = "outputs"
    AUXILIARY = "auxiliary"
    NOTHING = "_output"


@dataclass(frozen=True, eq=False, kw_only=True)
class Operation:
    """The record of one operation. See the module's docstring.

    Parameters
    ----------
    name : str
        The name of the record, of the kernels and of the function in the reference.
    result : callable
        ``result(*operand_specs, *options)`` returns the `Spec` of the result (with auxiliary
        results: a tuple) or raises ShapeError, DTypeError or ArgumentError. It looks only at
        `.shape` and `.dtype`, and sees dtypes after promotion.
    gradient : callable, THROUGH_DECOMPOSITION or None
        None means "not differentiable", and is a decision.
    cpu : callable
        The NumPy kernel. May be absent for composites and views.
    decomposition : callable
        ``decomposition(k, *operands, *options)``: makes the operation a composite.
    view : callable
        ``view(shape, strides, offset, *options)`` returns a `ViewLayout`: makes it a view.
    operands : int
        How many operands it takes; `Arity.SEQUENCE` for one sequence of them.
    promotion, promotes
        How operands are cast, and which of them (all by default).
    broadcasts : bool
        Operands broadcast against each other; gradients are summed back to each one's shape.
    used_by : tuple of tuple of int, optional
        For each operand, the operands whose gradients use its value; where none of them wants a
        gradient, the value is not kept (the rule receives None). By default always kept.
    auxiliaries : int
        How many results follow the differentiable one: indices, statistics for the gradient.
    writes_out : bool
        Kernels take ``out=``.
    samples : callable
        Inputs for the generated tests.
    tolerance : float
        Relative error allowed between backends, in float32.
    """

    name: str
    result: ResultRule
    gradient: GradientRule | _ThroughDecomposition | None
    samples: Samples
    cpu: Kernel | None = None
    decomposition: Callable[..., Value] | None = None
    view: Callable[..., ViewLayout] | None = None
    operands: int = 1
    promotion: Promotion = Promotion.NONE
    promotes: tuple[int, ...] | None = None
    broadcasts: bool = False
    used_by: tuple[tuple[int, ...], ...] | None = None
    auxiliaries: int = 0
    writes_out: bool = False
    tolerance: float = 1e-5

    # Read off the gradient rule's parameters by `define`.
    keeps: tuple[Keep, ...] = field(default=(), init=False)
    keeps_result: KeepResult = field(default=KeepResult.NOTHING, init=False)
    wants_needs: bool = field(default=False, init=False)
    takes_sequence: bool = field(default=False, init=False)
    checks_first: bool = field(default=True, init=False)
    is_plain_binary: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "takes_sequence", self.operands == Arity.SEQUENCE)
        object.__setattr__(self, "is_plain_binary", self.operands == 2)
        object.__setattr__(self, "checks_first", self.result not in CHECKED_ELSEWHERE)
        if not callable(self.gradient):
            return
        parameters = list(inspect.signature(self.gradient).parameters)
        count = 1 if self.takes_sequence else self.operands
        result_names = {keep.value: keep for keep in KeepResult}
        keeps = tuple(_keep(name) for name in parameters[3 : 3 + count])
        object.__setattr__(self, "keeps", keeps)
        object.__setattr__(self, "keeps_result", result_names[parameters[2]])
        object.__setattr__(self, "wants_needs", parameters[-1] == "needs")

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _keep(parameter: str) -> Keep:
    if parameter.startswith("_"):
        return Keep.NOTHING
    return Keep.SPEC if parameter.endswith("_spec") else Keep.VALUE


OPERATIONS: Final[dict[str, Operation]] = {}
"""Every record, by name."""

WHEN_DEFINED: Final[list[Callable[[str], None]]] = []
"""Called with the name of each new operation: by the namespaces that exist already."""


def define(operation: Operation) -> Operation:
    """Enter `operation` in `OPERATIONS` and return it."""
    if operation.name in OPERATIONS:
        message = f"operation {operation.name!r} is defined twice; give the new one another name."
        raise ValueError(message)
    if operation.cpu is None and operation.decomposition is None and operation.view is None:
        message = f"operation {operation.name!r} has neither cpu=, decomposition= nor view=."
        raise ValueError(message)
    OPERATIONS[operation.name] = operation
    for notify in WHEN_DEFINED:
        notify(operation.name)
    return operation


def no_samples(_generator: np.random.Generator) -> Sequence[Sample]:
    """Return nothing: for operations that are tested through the one whose gradient they are."""
    return ()


def array(
    generator: np.random.Generator, *shape: int, low: float = -2, high: float = 2
) -> NDArray[Any]:
    """Return random float32 numbers in [low, high), for samples."""
    return generator.uniform(low, high, shape).astype(np.float32)
