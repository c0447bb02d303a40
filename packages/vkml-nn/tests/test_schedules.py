from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vkml
from vkml.optim import lr_scheduler

torch = pytest.importorskip("torch")


def optimizers() -> tuple[Any, Any]:
    def groups(library: Any) -> Any:
        zeros = [library.zeros(1, requires_grad=True) for _ in range(2)]
        return [{"params": zeros[0]}, {"params": zeros[1], "lr": 0.7}]

    return vkml.optim.SGD(groups(vkml), lr=0.3), torch.optim.SGD(groups(torch), lr=0.3)


SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("LambdaLR", {"lr_lambda": lambda time: 1 / (1 + time)}),
    ("LambdaLR", {"lr_lambda": [lambda time: 0.5**time, lambda time: 0.9**time]}),
    ("StepLR", {"step_size": 4, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [3, 7, 7]}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("CosineAnnealingLR", {"T_max": 10, "eta_min": 0.01}),
    ("OneCycleLR", {"max_lr": 2.0, "total_steps": 20, "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": [1.0, 2.0], "epochs": 4, "steps_per_epoch": 5, "pct_start": 0.5,
                    "anneal_strategy": "linear", "cycle_momentum": False}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), SCHEDULES)
def test_schedule_equals_torch(name: str, options: dict[str, Any]) -> None:
    ours, theirs = optimizers()
    own_options = {key: value for key, value in options.items() if key != "cycle_momentum"}
    schedule = getattr(lr_scheduler, name)(ours, **own_options)
    expected = getattr(torch.optim.lr_scheduler, name)(theirs, **options)

    for _ in range(19):
        assert schedule.get_last_lr() == pytest.approx(expected.get_last_lr())
        assert [group["lr"] for group in ours.param_groups] == schedule.get_last_lr()
        theirs.step()
        expected.step()
        schedule.step()


@pytest.mark.parametrize(("name", "options"), SCHEDULES)
def test_schedule_goes_on_from_its_state(name: str, options: dict[str, Any]) -> None:
    own_options = {key: value for key, value in options.items() if key != "cycle_momentum"}
    first, other = optimizers()[0], optimizers()[0]
    schedule = getattr(lr_scheduler, name)(first, **own_options)
    for _ in range(5):
        schedule.step()

    resumed = getattr(lr_scheduler, name)(other, **own_options)
    other.load_state_dict(first.state_dict())
    resumed.load_state_dict(schedule.state_dict())
    schedule.step()
    resumed.step()

    assert resumed.get_last_lr() == schedule.get_last_lr()
    assert other.param_groups[1]["lr"] == first.param_groups[1]["lr"]


LOSSES = [3.0, 2.0, 2.0, 1.9999, 1.5, 1.6, 1.7, float("nan"), 1.6, 1.5, 1.5, -1.0, -1.00005, -1.0,
          -2.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 2},
        {"patience": 0, "factor": 0.5, "min_lr": [0.1, 0.05], "mode": "max"},
        {"patience": 1, "cooldown": 2, "threshold": 0.2, "threshold_mode": "abs"},
        {"patience": 1, "threshold": 0.3, "threshold_mode": "abs", "mode": "max", "min_lr": 0.01},
        {"patience": 0, "eps": 0.05},
    ],
)
def test_reduction_on_a_plateau_equals_torch_and_goes_on_from_its_state(options: Any) -> None:
    ours, theirs = optimizers()
    schedule = lr_scheduler.ReduceLROnPlateau(ours, **options)
    expected = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options)

    for loss in LOSSES:
        schedule.step(vkml.tensor(loss, dtype=vkml.float64))
        expected.step(loss)
        assert schedule.get_last_lr() == pytest.approx(expected.get_last_lr())
        assert [group["lr"] for group in ours.param_groups] == schedule.get_last_lr()
        resumed = lr_scheduler.ReduceLROnPlateau(ours)
        resumed.load_state_dict(schedule.state_dict())
        schedule = resumed


@pytest.mark.parametrize(("name", "options"), SCHEDULES)
def test_a_tensor_in_place_of_the_optimizer_is_named(name: str, options: dict[str, Any]) -> None:
    own_options = {key: value for key, value in options.items() if key != "cycle_momentum"}

    with pytest.raises(vkml.DTypeError, match=f"{name}: expected an optimiser.*got a Tensor"):
        getattr(lr_scheduler, name)(vkml.zeros(1), **own_options)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda o: lr_scheduler.StepLR(o, 2, last_epoch=3), "hold no 'initial_lr'"),
        (lambda o: lr_scheduler.LambdaLR(o, [lambda _: 1.0]), "1 functions for 2 groups"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), "give total_steps"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, "down"), "mode 'down'.*choose 'min' or"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1), "factor below 1"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, min_lr=[0.1]), "1 min_lr for 2 groups"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 9, anneal_strategy="up"), "choose 'cos'"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 9, pct_start=2), "between 0 and 1"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 1).step(), "step 2 of a cycle of 1"),
    ],
)
def test_wrong_argument_is_named(make: Callable[[Any], Any], part: str) -> None:
    with pytest.raises(vkml.ArgumentError, match=part):
        make(optimizers()[0])
