"""What a module is made of: parameters, buffers and other modules, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from vkml import ArgumentError, DTypeError, Parameter, Tensor


class ModuleTree:
    """The names and members of a module. `Module` adds what modules do.

    Members are ordinary attributes, so that reading one costs no more than that; the three
    registries say which attributes they are, and in which order they came.
    """

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]  # Module or None: modules build on this class
    _transient_buffers: set[str]
    """The buffers that the state dictionary leaves out."""

    def __init__(self) -> None:
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, {})
        object.__setattr__(self, "_transient_buffers", set())

    # becoming a member --------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._registry_for(name, value)
        if kind is not None:
            for registry in (self._parameters, self._buffers, self._modules):
                if registry is not kind:
                    registry.pop(name, None)
            kind[name] = value
        object.__setattr__(self, name, value)

    def _registry_for(self, name: str, value: Any) -> dict[str, Any] | None:
        """Return the registry in which `value` belongs under `name`, if it is a member."""
        try:
            parameters, buffers, modules = self._parameters, self._buffers, self._modules
        except AttributeError:
            if not isinstance(value, (Parameter, ModuleTree)):
                return None
            message = f"{type(self).__name__}: call super().__init__() before assigning {name!r}."
            raise AttributeError(message) from None
        if isinstance(value, Parameter):
            return parameters
        if isinstance(value, ModuleTree):
            return modules
        if name in parameters:
            if value is not None:
                raise DTypeError(self._not_a(name, "parameter", "vkml.Parameter", value))
            return parameters
        if name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise DTypeError(self._not_a(name, "buffer", "vkml.Tensor", value))
            return buffers
        if name in modules:
            if value is not None:
                raise DTypeError(self._not_a(name, "module", "vkml.nn.Module", value))
            return modules
        return None

    def _not_a(self, name: str, kind: str, wanted: str, value: object) -> str:
        return (
            f"{type(self).__name__}.{name} is a {kind}: expected a {wanted} or None, got "
            f"{type(value).__name__}. Delete it first to use the name for something else."
        )

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            registry.pop(name, None)
        self._transient_buffers.discard(name)
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under `name`; None reserves the name.

        Raises
        ------
        ArgumentError
            The name is taken, empty, or contains a dot.
        """
        self._check_new(name, self._parameters)
        self._parameters[name] = None
        setattr(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is part of the module's state, but no parameter.

        Parameters
        ----------
        name : str
            The attribute.
        tensor : Tensor or None
            Its value.
        persistent : bool
            Whether `state_dict` contains it.
        """
        self._check_new(name, self._buffers)
        self._buffers[name] = None
        setattr(self, name, tensor)
        if persistent:
            self._transient_buffers.discard(name)
        else:
            self._transient_buffers.add(name)

    def register_module(self, name: str, module: Any) -> None:
        """Add a module under `name`; None reserves the name."""
        self._check_new(name, self._modules)
        if module is not None and not isinstance(module, ModuleTree):
            raise DTypeError(self._not_a(name, "module", "vkml.nn.Module", module))
        self._modules[name] = None
        setattr(self, name, module)

    add_module = register_module

    def _check_new(self, name: str, registry: dict[str, Any]) -> None:
        if not name or "." in name:
            message = f"{name!r} cannot name a member: give a name without dots."
            raise ArgumentError(message)
        if name not in registry and hasattr(self, name):
            raise ArgumentError(f"{type(self).__name__} has an attribute {name!r} already.")

    # walking ------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Self]]:
        """Yield this module and all below it, parents first, with their dotted names."""
        seen = set() if memo is None else memo
        if id(self) in seen:
            return
        if remove_duplicate:
            seen.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, below, remove_duplicate)

    def modules(self) -> Iterator[Self]:
        """Yield this module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the modules right below this one with their names, each once."""
        yield from _once(self._modules.items())

    def children(self) -> Iterator[Any]:
        """Yield the modules right below this one, each once."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters with their dotted names.

        Parameters
        ----------
        prefix : str
            Put before each name.
        recurse : bool
            Whether the modules below count too.
        remove_duplicate : bool
            Yield a parameter that two modules share once only.
        """
        found = self._members("_parameters", prefix, recurse, remove_duplicate)
        yield from _once(found) if remove_duplicate else found

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters, each once: what optimisers take."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield the buffers with their dotted names."""
        found = self._members("_buffers", prefix, recurse, remove_duplicate)
        yield from _once(found) if remove_duplicate else found

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _members(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else iter([(prefix, self)])
        )
        for path, module in modules:
            for name, value in getattr(module, registry).items():
                if value is not None:
                    yield (f"{path}.{name}" if path else name), value

    # finding ------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """Return the module with the dotted name `target`; this one for the empty name.

        Raises
        ------
        AttributeError
            There is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            found = module._modules.get(name)
            if found is None:
                known = ", ".join(module._modules) or "no modules"
                message = (
                    f"{type(module).__name__} has no module {name!r} (of {target!r}): {known}."
                )
                raise AttributeError(message)
            module = found
        return module

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with the dotted name `target`."""
        found: Parameter = self._named(target, "_parameters", "parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with the dotted name `target`."""
        found: Tensor = self._named(target, "_buffers", "buffer")
        return found

    def _named(self, target: str, registry: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = getattr(module, registry).get(name)
        if found is None:
            raise AttributeError(f"{type(module).__name__} has no {kind} {name!r} (of {target!r}).")
        return found


def _once(found: Any) -> Iterator[tuple[str, Any]]:
    """Yield each pair whose second part was not there before and is not None."""
    seen: set[int] = set()
    for name, value in found:
        if value is not None and id(value) not in seen:
            seen.add(id(value))
            yield name, value
