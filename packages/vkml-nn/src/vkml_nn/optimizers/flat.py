"""Parameters in flat memory, so that one call updates many of them.

Small parameters of one group, device and dtype are moved next to each other into one flat tensor,
of which each parameter then is a view; so are their gradients (copied together before each step)
and what the optimiser keeps. Large parameters stay where they are, each flat for itself: there the
call is no burden, and the copy would be one. So do parameters that share memory with something
else, which moving would tear apart.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import vkml
from vkml import Tensor

LARGE: Final = 2**16
"""From so many elements on, a parameter is updated alone: a step takes longer than its call."""

State = dict[str, Any]  # Any: tensors by name, and numbers
Update = Callable[[int, tuple[Tensor, ...]], None]
"""Takes the phase of some parameters, and their values, gradients and kept tensors, all flat."""


class Place:
    """Where one parameter lies in its bucket."""

    __slots__ = ("gradient", "operand", "parameter", "start", "state", "stop")

    def __init__(self, parameter: Tensor, state: State, start: int) -> None:
        self.parameter = parameter
        self.state = state
        self.start = start
        self.stop = start + parameter.numel()
        self.operand: Any = parameter.operand
        self.gradient: Any = None


class Bucket:
    """Parameters that are updated together.

    Parameters
    ----------
    parameters : sequence of Tensor
        Of one device and dtype.
    states : sequence of dict
        What the optimiser keeps for each; its tensors become views of flat ones.
    names : sequence of str
        The names of these tensors.
    moving : bool
        Whether the parameters are moved into new memory; if not, there is one alone.

    Attributes
    ----------
    names : tuple of str
        As given.
    has_kept : bool
        Whether there are any.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        states: Sequence[State],
        names: Sequence[str],
        moving: bool,
    ) -> None:
        first = parameters[0]
        self._device = first.device
        self._dtype = first.dtype
        self.names = tuple(names)
        self.has_kept = bool(self.names)
        self.places: list[Place] = []
        start = 0
        for parameter, state in zip(parameters, states, strict=True):
            self.places.append(Place(parameter, state, start))
            start = self.places[-1].stop
        self._size = start
        self._alone = not moving
        self._values = self._moved() if moving else first.detach().reshape(-1)
        self._apart = not (moving or first.is_contiguous())
        """Whether the values had to be copied out to be flat, and are copied back."""
        self._gradient = None if self._alone else self._empty()
        self._kept = tuple(self._adopted(name) for name in self.names)
        self._slices: dict[tuple[int, int], tuple[Tensor, ...]] = {}
        if self._gradient is not None:
            for place in self.places:
                place.gradient = self._view(self._gradient, place).operand

    def _empty(self) -> Tensor:
        return vkml.empty(self._size, dtype=self._dtype, device=self._device)

    def _view(self, flat: Tensor, place: Place) -> Tensor:
        return flat[place.start : place.stop].reshape(place.parameter.shape)

    def _moved(self) -> Tensor:
        """Return a flat tensor with the values, of which the parameters are views from now on."""
        flat = self._empty()
        for place in self.places:
            view = self._view(flat, place)
            view.copy_(place.parameter.detach())
            place.parameter.set_(view)
            place.operand = place.parameter.operand
        return flat

    def _adopted(self, name: str) -> Tensor:
        """Return a flat tensor for what is kept as `name`, filled with what there is already."""
        flat = vkml.zeros(self._size, dtype=self._dtype, device=self._device)
        for place in self.places:
            view = self._view(flat, place)
            earlier = place.state.get(name)
            if earlier is not None:
                view.copy_(earlier)
                place.state[name] = view
        return flat

    def kept(self, place: Place, name: str) -> Tensor:
        """Return the view of what is kept as `name`, set to 0, for a parameter without one."""
        view = self._view(self._kept[self.names.index(name)], place)
        return view.zero_()

    def is_valid(self, names: tuple[str, ...]) -> bool:
        """Return whether all parameters lie where they were put, and `names` are what is kept."""
        if names != self.names:
            return False
        return all(place.parameter.operand is place.operand for place in self.places)

    def update(self, phase_of: Callable[[Bucket, Place], int], update: Update) -> None:
        """Call `update` for each run of neighbours that have gradients and are in one phase.

        `phase_of` is called once for each parameter with a gradient, and may change its state.
        """
        runs: list[tuple[int, int, int]] = []  # start, stop, phase
        copy = self._device.handle.copy
        for place in self.places:
            gradient = place.parameter.grad
            if gradient is None:
                continue
            if not self._alone:
                copy(gradient.operand, place.gradient)
            phase = phase_of(self, place)
            if runs and runs[-1][1] == place.start and runs[-1][2] == phase:
                runs[-1] = (runs[-1][0], place.stop, phase)
            else:
                runs.append((place.start, place.stop, phase))
        for start, stop, phase in runs:
            update(phase, self._part(start, stop))
            if self._apart:
                (place,) = self.places
                place.parameter.copy_(self._values.reshape(place.parameter.shape))

    def _part(self, start: int, stop: int) -> tuple[Tensor, ...]:
        """Return values, gradients and kept tensors between two positions."""
        if self._gradient is None:
            gradient = self.places[0].parameter.grad
            assert gradient is not None  # noqa: S101 - `update` has checked
            flat = gradient.detach().to(dtype=self._dtype).reshape(-1)
            if self._apart:
                self._values.copy_(self.places[0].parameter.detach().reshape(-1))
            return (self._values, flat, *self._kept)
        found = self._slices.get((start, stop))
        if found is None:
            if len(self._slices) > 4 * len(self.places):  # gradients come and go at random
                self._slices.clear()
            whole = (self._values, self._gradient, *self._kept)
            found = tuple(each[start:stop] for each in whole)
            self._slices[start, stop] = found
        return found


def buckets(
    parameters: Sequence[Tensor], states: Sequence[State], names: Sequence[str]
) -> list[Bucket]:
    """Return the buckets of one group; small parameters are moved together.

    Parameters
    ----------
    parameters : sequence of Tensor
        The group.
    states : sequence of dict
        What is kept for each parameter.
    names : sequence of str
        The tensors among it.
    """
    movable = set(_movable(parameters))
    together: defaultdict[Any, list[int]] = defaultdict(list)
    for index, parameter in enumerate(parameters):
        small = parameter.numel() < LARGE and index in movable
        key = (parameter.device, parameter.dtype) if small else index
        together[key].append(index)
    made = []
    for indices in together.values():
        members = [parameters[index] for index in indices]
        chosen = [states[index] for index in indices]
        made.append(Bucket(members, chosen, names, moving=len(members) > 1))
    return made


def _movable(parameters: Sequence[Tensor]) -> Iterator[int]:
    """Yield which parameters have memory that nothing but these parameters uses, gaplessly."""
    by_storage: defaultdict[Any, list[int]] = defaultdict(list)
    for index, parameter in enumerate(parameters):
        by_storage[parameter.storage()].append(index)
    for storage, indices in by_storage.items():
        indices.sort(key=lambda index: parameters[index].storage_offset())
        end = 0
        for index in indices:
            if parameters[index].storage_offset() != end:
                break
            end += math.prod(parameters[index].shape)
        else:
            if end * parameters[indices[0]].itemsize == storage.nbytes:
                yield from indices
