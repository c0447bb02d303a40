"""What all optimisers share: groups of parameters, their state, and saving it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import vkml
from vkml import ArgumentError, DTypeError, Tensor
from vkml_nn.errors import StateDictError
from vkml_nn.optimizers.flat import Bucket, Place, buckets

Group: TypeAlias = dict[str, Any]  # Any: parameters, numbers, pairs of numbers, truth values
Parameters: TypeAlias = Iterable[Tensor] | Iterable[Mapping[str, Any]]


class Optimizer:
    """The base of optimisers.

    A subclass names the tensors it keeps (`_kept_names`), says in which phase a parameter is
    (`_phase`) and updates flat tensors (`_update`).

    Parameters
    ----------
    params : iterable of Tensor or of dict
        What to optimise: tensors, or groups ``{"params": tensors, "lr": 0.1, ...}`` with options of
        their own.
    defaults : dict
        The options of groups that do not say otherwise.

    Attributes
    ----------
    param_groups : list of dict
        The groups with all their options, which may be changed between steps.
    state : dict
        What is kept for each parameter. The tensors in it may be written into; to replace them,
        use `load_state_dict`.

    Raises
    ------
    ArgumentError
        There is nothing to optimise, a parameter comes twice, or is the result of an operation.

    Notes
    -----
    Small parameters are moved next to each other into new memory when the optimiser is made; arrays
    that shared memory with them before then no longer do. See `vkml_nn.optimizers.flat`.
    """

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._buckets: list[list[Bucket] | None] = []
        self._count = 0
        """How many parameters there are, each of which has an entry in the state."""
        if isinstance(params, (Tensor, Mapping)):
            message = (
                f"{type(self).__name__}: expected an iterable of tensors or groups, got one "
                f"{type(params).__name__}; put it into a list."
            )
            raise DTypeError(message)
        given = list(params)
        if not given:
            message = (
                f"{type(self).__name__}: there are no parameters. An iterator, such as "
                "model.parameters(), can be used once only."
            )
            raise ArgumentError(message)
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)  # type: ignore[arg-type]  # a group: see the line above

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a group ``{"params": tensors, ...}``; missing options are the defaults."""
        group = dict(param_group)
        params = group["params"]
        group["params"] = members = [params] if isinstance(params, Tensor) else list(params)
        known = {id(each) for other in self.param_groups for each in other["params"]}
        for index, each in enumerate(members):
            where = f"{type(self).__name__}: parameter {index} of group {len(self.param_groups)}"
            if not isinstance(each, Tensor):
                raise DTypeError(f"{where} is a {type(each).__name__}; expected a tensor.")
            if not each.is_leaf:
                message = f"{where} is the result of an operation; optimise what it is made of."
                raise ArgumentError(message)
            if id(each) in known:
                raise ArgumentError(f"{where} comes twice; name each parameter once.")
            known.add(id(each))
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self._check(group)
        self.param_groups.append(group)
        self._count += len(members)
        self._buckets.append(None)
        self._grouped(len(self.param_groups) - 1)

    # for subclasses -----------------------------------------------------------------------

    def _check(self, group: Group) -> None:
        """Raise if an option of the group makes no sense."""

    def _kept_names(self, group: Group) -> tuple[str, ...]:
        """Return the names of the tensors kept for each parameter of the group."""
        raise NotImplementedError

    def _phase(self, bucket: Bucket, place: Place) -> int:
        """Return in which phase the parameter is, after having counted this step."""
        raise NotImplementedError

    def _update(self, group: Group, phase: int, tensors: tuple[Tensor, ...]) -> None:
        """Update flat parameters: `tensors` are values, gradients and those of `_kept_names`."""
        raise NotImplementedError

    # steps --------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have gradients.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss and its gradients first.

        Returns
        -------
        object
            What `closure` returns.
        """
        loss = None
        if closure is not None:
            with vkml.enable_grad():
                loss = closure()
        with vkml.no_grad():
            for index, group in enumerate(self.param_groups):
                update = partial(self._update, group)
                for bucket in self._grouped(index):
                    bucket.update(self._phase, update)
        return loss

    def _grouped(self, index: int) -> list[Bucket]:
        """Return the buckets of a group, made anew where its parameters were moved since."""
        group = self.param_groups[index]
        found = self._buckets[index]
        names = self._kept_names(group)
        if (
            found is None
            or len(self.state) != self._count  # the user has cleared it
            or not all(bucket.is_valid(names) for bucket in found)
        ):
            members: Sequence[Tensor] = group["params"]
            states = [self.state[each] for each in members]
            with vkml.no_grad():
                found = self._buckets[index] = buckets(members, states, names)
        return found

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or set them to 0."""
        for group in self.param_groups:
            for each in group["params"]:
                if set_to_none:
                    each.grad = None
                elif each.grad is not None:
                    each.grad = vkml.zeros_like(each.grad)

    # state --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state with parameters as numbers, in PyTorch's form.

        Returns
        -------
        dict
            ``state``: what is kept, by the parameter's number; ``param_groups``: the options, and
            the numbers of the parameters. Tensors share memory with the optimiser's.
        """
        numbers = self._numbers()
        return {
            "state": {numbers[id(each)]: dict(kept) for each, kept in self.state.items() if kept},
            "param_groups": [
                {name: value for name, value in group.items() if name != "params"}
                | {"params": [numbers[id(each)] for each in group["params"]]}
                for group in self.param_groups
            ],
        }

    def _numbers(self) -> dict[int, int]:
        every = [each for group in self.param_groups for each in group["params"]]
        return {id(each): number for number, each in enumerate(every)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over the state of another optimiser, of vkML or PyTorch; tensors are copied.

        Raises
        ------
        StateDictError
            This is no state of an optimiser, the groups differ in number or size, or a tensor has
            another shape than its parameter. Nothing is changed.
        """
        absent = [name for name in ("state", "param_groups") if name not in state_dict]
        if absent:
            message = (
                f"{type(self).__name__}: the state has no {' and no '.join(map(repr, absent))}; "
                "give what state_dict() of an optimiser returned, not that of a module."
            )
            raise StateDictError(message)
        groups = state_dict["param_groups"]
        sizes = [len(group["params"]) for group in groups]
        own_sizes = [len(group["params"]) for group in self.param_groups]
        if sizes != own_sizes:
            message = (
                f"{type(self).__name__}: the state has groups of {sizes} parameters, the "
                f"optimiser of {own_sizes}; make it with the same groups."
            )
            raise StateDictError(message)
        pairs = [
            (number, each)
            for group, own in zip(groups, self.param_groups, strict=True)
            for number, each in zip(group["params"], own["params"], strict=True)
        ]
        kept = state_dict["state"]
        loaded = {each: self._converted(each, kept.get(number, {})) for number, each in pairs}
        for group, own in zip(groups, self.param_groups, strict=True):
            own.update({name: value for name, value in group.items() if name != "params"})
        self.state.clear()
        self.state.update({each: state for each, state in loaded.items() if state})
        self._buckets = [None] * len(self.param_groups)

    def _converted(self, parameter: Tensor, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of one parameter, on its device and in its dtype."""
        result: dict[str, Any] = {}
        for name, value in kept.items():
            shape = getattr(value, "shape", None)
            if name == "step":
                result[name] = int(value)
            elif shape is None:
                result[name] = value
            elif tuple(shape) != parameter.shape:
                message = (
                    f"{type(self).__name__}: {name} has shape {tuple(shape)}, its parameter "
                    f"{parameter.shape}."
                )
                raise StateDictError(message)
            else:
                result[name] = vkml.tensor(value, dtype=parameter.dtype, device=parameter.device)
        return result

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_buckets": [None] * len(self.param_groups)}

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            options = sorted((name, value) for name, value in group.items() if name != "params")
            lines += [f"    {name}: {value}" for name, value in options]
        return "\n".join([*lines, ")"])


def require_at_least_zero(optimizer: Optimizer, group: Group, *names: str) -> None:
    """Raise an ArgumentError unless these options are 0 or more."""
    for name in names:
        if not group[name] >= 0:
            message = f"{type(optimizer).__name__}: {name} is {group[name]}; give 0 or more."
            raise ArgumentError(message)
