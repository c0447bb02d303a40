"""Modules that hold others in order or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import index as as_index
from typing import Any, Generic, Self, TypeVar, overload

from vkml import DTypeError, IndexOutOfRangeError, Parameter, Tensor
from vkml_nn.module import Module

_Held = TypeVar("_Held")


class _Numbered(Module, Generic[_Held]):
    """A module whose members are numbered from 0, as in a list."""

    _held: str = "_modules"
    """The registry that holds the members."""

    def _registry(self) -> dict[str, Any]:
        found: dict[str, Any] = getattr(self, self._held)
        return found

    def __len__(self) -> int:
        return len(self._registry())

    def __iter__(self) -> Iterator[_Held]:
        return iter(list(self._registry().values()))

    def _key(self, position: int) -> str:
        """Return the name of the member at `position`, which may count from the end."""
        keys = list(self._registry())
        try:
            return keys[as_index(position)]
        except IndexError:
            message = f"{type(self).__name__} has {len(keys)} members; there is no {position}."
            raise IndexOutOfRangeError(message) from None

    @overload
    def __getitem__(self, position: int) -> _Held: ...
    @overload
    def __getitem__(self, position: slice) -> Self: ...
    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return self._part(position)
        return self._registry()[self._key(position)]

    def _part(self, part: slice) -> Self:
        return type(self)(list(self._registry().values())[part])  # type: ignore[call-arg]  # lists

    def __setitem__(self, position: int, value: _Held) -> None:
        setattr(self, self._key(position), value)

    def __delitem__(self, position: int | slice) -> None:
        names = list(self._registry())
        doomed = names[position] if isinstance(position, slice) else [self._key(position)]
        kept = [value for name, value in self._registry().items() if name not in doomed]
        self._refill(kept)

    def append(self, value: _Held) -> Self:
        """Add a member at the end, and return the container."""
        setattr(self, str(len(self)), value)
        return self

    def extend(self, values: Iterable[_Held]) -> Self:
        """Add members at the end, and return the container."""
        for value in list(values):
            self.append(value)
        return self

    def insert(self, position: int, value: _Held) -> Self:
        """Add a member before `position`, and return the container."""
        members = list(self._registry().values())
        members.insert(position, value)
        self._refill(members)
        return self

    def pop(self, position: int = -1) -> _Held:
        """Remove a member and return it."""
        member: _Held = self[position]
        del self[position]
        return member

    def _refill(self, members: list[Any]) -> None:
        for name in list(self._registry()):
            delattr(self, name)
        for position, member in enumerate(members):
            setattr(self, str(position), member)


class Sequential(_Numbered[Any]):
    """Modules that run one after the other, each on the result of the one before.

    Parameters
    ----------
    args : Module, or one OrderedDict of them
        The modules; an OrderedDict also names them.

    Examples
    --------
    >>> import vkml
    >>> model = vkml.nn.Sequential(vkml.nn.Linear(4, 8), vkml.nn.ReLU(), vkml.nn.Linear(8, 2))
    >>> model(vkml.zeros(3, 4)).shape
    (3, 2)
    >>> model[0]
    Linear(in_features=4, out_features=8, bias=True)
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], list | tuple | Iterator):
            message = (
                f"Sequential: expected modules as arguments, got one {type(args[0]).__name__}; "
                "write nn.Sequential(*layers)."
            )
            raise DTypeError(message)
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0]
        else:
            named = OrderedDict((str(position), module) for position, module in enumerate(args))
        for name, module in named.items():
            self.register_module(name, module)

    def forward(self, input: Any) -> Any:
        """Return the result of the last module."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, part: slice) -> Self:
        return type(self)(OrderedDict(list(self._modules.items())[part]))


class ModuleList(_Numbered[Any]):
    """A list of modules, each of which the surrounding module knows.

    Examples
    --------
    >>> import vkml
    >>> layers = vkml.nn.ModuleList(vkml.nn.Linear(4, 4) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)


class ParameterList(_Numbered[Parameter]):
    """A list of parameters, each of which the surrounding module knows.

    Tensors become parameters.
    """

    _held = "_parameters"

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(values or ())  # type: ignore[arg-type]  # append converts

    def append(self, value: Tensor) -> Self:
        """Add a parameter at the end, and return the container."""
        return super().append(value if isinstance(value, Parameter) else Parameter(value))

    def extra_repr(self) -> str:
        """Return one line for each parameter."""
        return "\n".join(
            f"({name}): Parameter of shape {value.shape}, {value.dtype}"
            for name, value in self._parameters.items()
            if value is not None
        )


class _Named(Module, Generic[_Held]):
    """A module whose members have names, as in a dictionary."""

    _held: str = "_modules"

    def _registry(self) -> dict[str, _Held]:
        found: dict[str, _Held] = getattr(self, self._held)
        return found

    def __len__(self) -> int:
        return len(self._registry())

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._registry()))

    def __contains__(self, name: str) -> bool:
        return name in self._registry()

    def __getitem__(self, name: str) -> _Held:
        return self._registry()[name]

    def __setitem__(self, name: str, value: _Held) -> None:
        self._check_new(name, self._registry())
        setattr(self, name, value)

    def __delitem__(self, name: str) -> None:
        if name not in self._registry():
            raise KeyError(name)
        delattr(self, name)

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._registry().keys()

    def values(self) -> Iterable[_Held]:
        """Return the members."""
        return self._registry().values()

    def items(self) -> Iterable[tuple[str, _Held]]:
        """Return names and members."""
        return self._registry().items()

    def update(self, members: Mapping[str, _Held] | Iterable[tuple[str, _Held]]) -> None:
        """Add members, replacing those with the same names."""
        pairs = members.items() if isinstance(members, (Mapping, _Named)) else members
        for name, value in pairs:
            self[name] = value

    def pop(self, name: str) -> _Held:
        """Remove a member and return it."""
        member = self[name]
        del self[name]
        return member

    def clear(self) -> None:
        """Remove all members."""
        for name in self:
            del self[name]


class ModuleDict(_Named[Any]):
    """Modules by name, each of which the surrounding module knows.

    Examples
    --------
    >>> import vkml
    >>> heads = vkml.nn.ModuleDict({"left": vkml.nn.Linear(4, 1), "right": vkml.nn.Linear(4, 1)})
    >>> heads["left"](vkml.zeros(2, 4)).shape
    (2, 1)
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})


class ParameterDict(_Named[Any]):
    """Parameters by name, each of which the surrounding module knows. Tensors become parameters."""

    _held = "_parameters"

    def __init__(self, parameters: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def __setitem__(self, name: str, value: Tensor) -> None:
        super().__setitem__(name, value if isinstance(value, Parameter) else Parameter(value))

    extra_repr = ParameterList.extra_repr
