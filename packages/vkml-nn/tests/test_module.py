from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn


class Block(nn.Module):
    """Parameters, buffers of both kinds, a module and one shared parameter."""

    scale: vkml.Tensor
    cache: vkml.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.weight = vkml.Parameter(vkml.ones(3))
        self.register_buffer("scale", vkml.ones(3))
        self.register_buffer("cache", vkml.zeros(3), persistent=False)
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.inner.weight

    def forward(self, x: vkml.Tensor) -> vkml.Tensor:
        result: vkml.Tensor = self.tied(self.inner(x)) * self.weight * self.scale
        return result


# members -----------------------------------------------------------------------------------


def test_state_names_parameters_then_buffers_then_modules_and_leaves_out_transient_ones() -> None:
    assert list(Block().state_dict()) == [
        "weight", "scale", "inner.weight", "inner.bias", "tied.weight", "tied.bias",
    ]  # fmt: skip


def test_shared_parameter_is_yielded_once() -> None:
    names = [name for name, _ in Block().named_parameters()]

    assert names == ["weight", "inner.weight", "inner.bias", "tied.bias"]


def test_walks_equal_torchs() -> None:
    torch = pytest.importorskip("torch")

    def build(library: Any) -> Any:
        model = library.Sequential(
            library.Linear(2, 2), library.Sequential(library.BatchNorm1d(2), library.ReLU())
        )
        model.add_module("again", model[0])
        return model

    ours, theirs = build(nn), build(torch.nn)

    for walk in ("named_modules", "named_children", "named_parameters", "named_buffers"):
        found = [name for name, _ in getattr(ours, walk)()]
        assert found == [name for name, _ in getattr(theirs, walk)()], walk
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours) == repr(theirs)


def test_members_are_found_by_their_dotted_names() -> None:
    block = Block()

    assert block.get_submodule("inner") is block.inner
    assert block.get_submodule("") is block
    assert block.get_parameter("inner.weight") is block.inner.weight
    assert block.get_buffer("scale") is block.scale
    with pytest.raises(AttributeError, match="no module 'outer'"):
        block.get_submodule("outer.weight")


def test_parameter_cannot_be_replaced_by_a_plain_tensor() -> None:
    layer = nn.Linear(2, 2)

    with pytest.raises(vkml.DTypeError, match=r"expected a vkml\.Parameter or None"):
        layer.weight = vkml.zeros(2, 2)  # type: ignore[assignment]  # the point of the test


def test_buffer_can_be_replaced_by_a_tensor() -> None:
    block = Block()

    block.scale = vkml.zeros(3)

    assert block.state_dict()["scale"].tolist() == [0, 0, 0]


def test_deleted_member_is_gone_from_the_state() -> None:
    block = Block()

    del block.weight
    del block.scale

    assert "weight" not in block.state_dict()
    assert "scale" not in block.state_dict()


def test_parameter_set_to_none_keeps_its_name_for_later() -> None:
    layer = nn.Linear(2, 2, bias=False)

    assert layer.bias is None
    layer.bias = vkml.Parameter(vkml.zeros(2))
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_assigning_before_init_says_what_is_missing() -> None:
    class Wrong(nn.Module):
        def __init__(self) -> None:
            self.weight = vkml.Parameter(vkml.zeros(1))

    with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\)"):
        Wrong()


@pytest.mark.parametrize("name", ["", "a.b", "forward"])
def test_name_that_cannot_be_used_is_refused(name: str) -> None:
    with pytest.raises(vkml.ArgumentError):
        nn.Module().register_buffer(name, None)


def test_module_without_forward_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Module defines no forward"):
        nn.Module()(1)


# modes ---------------------------------------------------------------------------------------


def test_eval_and_train_reach_all_modules() -> None:
    model = nn.Sequential(nn.Sequential(nn.Dropout()), nn.ReLU())

    assert not any(module.training for module in model.eval().modules())
    assert all(module.training for module in model.train().modules())


def test_apply_calls_children_first() -> None:
    seen: list[str] = []

    nn.Sequential(nn.Sequential(nn.ReLU())).apply(lambda module: seen.append(repr(module)[:6]))

    assert seen == ["ReLU()", "Sequen", "Sequen"]


def test_zero_grad_forgets_or_zeroes() -> None:
    layer = nn.Linear(2, 1)
    layer(vkml.ones(1, 2)).sum().backward()

    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad is not None
    assert layer.weight.grad.tolist() == [[0, 0]]

    layer.zero_grad()
    assert layer.weight.grad is None


def test_requires_grad_freezes_and_thaws() -> None:
    layer = nn.Linear(2, 1).requires_grad_(False)

    assert not layer(vkml.ones(1, 2)).requires_grad
    assert layer.requires_grad_()(vkml.ones(1, 2)).requires_grad


# moving ----------------------------------------------------------------------------------------


def test_to_keeps_parameters_ties_gradients_and_integers() -> None:
    block = Block()
    norm = nn.BatchNorm1d(3)
    model = nn.Sequential(block, norm)
    model(vkml.ones(4, 3)).sum().backward()
    before = list(model.parameters())

    model.to(vkml.float64)

    assert all(a is b for a, b in zip(before, model.parameters(), strict=True))
    assert block.tied.weight is block.inner.weight
    assert {p.dtype for p in before} == {vkml.float64}
    assert all(p.grad is not None and p.grad.dtype is vkml.float64 for p in before)
    assert all(p.requires_grad for p in before)
    assert norm.num_batches_tracked is not None
    assert norm.num_batches_tracked.dtype is vkml.int64
    assert model(vkml.ones(4, 3, dtype=vkml.float64)).dtype is vkml.float64


def test_to_takes_a_device_a_dtype_or_a_tensor() -> None:
    layer = nn.Linear(2, 1)

    assert layer.to("cpu").weight.device == vkml.device("cpu")
    assert layer.to("cpu", vkml.float64).weight.dtype is vkml.float64
    assert layer.to(vkml.zeros(1)).weight.dtype is vkml.float32
    assert layer.double().float().half().weight.dtype is vkml.float16
    with pytest.raises(vkml.ArgumentError, match="floating-point"):
        layer.to(vkml.int64)


def test_module_can_be_moved_to_meta_and_made_there() -> None:
    moved = nn.Linear(2, 3).to("meta")

    assert moved.weight.device == vkml.device("meta")
    assert moved.weight.shape == (3, 2)


def test_optimizer_made_before_a_move_goes_on_working() -> None:
    layer = nn.Linear(2, 1, bias=False)
    optimizer = vkml.optim.Adam(layer.parameters(), lr=0.5)
    layer(vkml.ones(1, 2)).sum().backward()
    optimizer.step()

    layer.double()
    before = layer.weight.tolist()
    layer.zero_grad()
    layer(vkml.ones(1, 2, dtype=vkml.float64)).sum().backward()
    optimizer.step()

    state = optimizer.state[layer.weight]
    assert layer.weight.tolist() != before
    assert state["step"] == 2
    assert state["exp_avg"].dtype is vkml.float64


# state -------------------------------------------------------------------------------------------


def test_state_shares_memory_and_is_detached() -> None:
    layer = nn.Linear(2, 1)

    state = layer.state_dict()
    with vkml.no_grad():
        layer.weight.fill_(7)

    assert isinstance(state, OrderedDict)
    assert state["weight"].tolist() == [[7, 7]]
    assert not state["weight"].requires_grad
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight


def test_state_goes_under_a_prefix_into_a_destination() -> None:
    destination: OrderedDict[str, vkml.Tensor] = OrderedDict()

    nn.Linear(2, 1).state_dict(destination=destination, prefix="head.")

    assert list(destination) == ["head.weight", "head.bias"]


def test_loading_copies_in_place_and_keeps_dtype_and_identity() -> None:
    layer = nn.Linear(2, 1)
    weight = layer.weight

    result = layer.load_state_dict({"weight": np.array([[1.0, 2.0]]), "bias": vkml.ones(1)})

    assert result == ([], [])
    assert layer.weight is weight
    assert weight.dtype is vkml.float32
    assert weight.requires_grad
    assert weight.tolist() == [[1, 2]]


def test_loading_reports_everything_that_does_not_fit_and_changes_nothing() -> None:
    model = nn.Sequential(nn.Linear(2, 1), nn.Linear(1, 2))
    before = {name: each.tolist() for name, each in model.state_dict().items()}
    state = {
        "0.weight": vkml.zeros(1, 2), "0.bias": vkml.zeros(3), "1.weight": [0.0],
        "2.bias": vkml.zeros(1),
    }  # fmt: skip

    with pytest.raises(nn.StateDictError) as caught:
        model.load_state_dict(state)

    text = str(caught.value)
    assert "missing:\n    1.bias" in text
    assert "unexpected:\n    2.bias" in text
    assert "0.bias: shape (3,), expected (1,)" in text
    assert "1.weight: a list is neither a tensor nor an array" in text
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, vkml.VkmlError)
    assert {name: each.tolist() for name, each in model.state_dict().items()} == before


def test_loading_without_strict_reports_names_but_still_refuses_shapes() -> None:
    layer = nn.Linear(2, 1)

    result = layer.load_state_dict({"bias": vkml.zeros(1), "more": vkml.zeros(1)}, strict=False)

    assert result.missing_keys == ["weight"]
    assert result.unexpected_keys == ["more"]
    with pytest.raises(nn.StateDictError, match="wrong shape"):
        layer.load_state_dict({"bias": vkml.zeros(2)}, strict=False)


def test_loading_refuses_complex_numbers_for_real_parameters() -> None:
    with pytest.raises(nn.StateDictError, match="complex64 does not fit"):
        nn.Linear(2, 1).load_state_dict({"weight": np.zeros((1, 2), "c8")}, strict=False)


@pytest.mark.parametrize(
    ("state", "part"),
    [
        ("m.vkml", r"write vkml\.load_module\('m\.vkml', module\)"),
        (vkml.Checkpoint({}, {}, 2), r"got a Checkpoint; its arrays are in \.tensors"),
        ([1, 2], r"got a list; give what state_dict\(\)"),
    ],
)
def test_a_state_that_is_no_mapping_is_refused_with_what_to_do(state: Any, part: str) -> None:
    with pytest.raises(vkml.DTypeError, match=part):
        Block().load_state_dict(state, strict=False)


def test_loading_takes_any_mapping() -> None:
    class Lazy(Mapping[str, Any]):
        def __getitem__(self, name: str) -> Any:
            return {"weight": np.full((1, 2), 3.0), "bias": np.zeros(1)}[name]

        def __iter__(self) -> Iterator[str]:
            return iter(("weight", "bias"))

        def __len__(self) -> int:
            return 2

    layer = nn.Linear(2, 1)
    layer.load_state_dict(Lazy())

    assert layer.weight.tolist() == [[3, 3]]


def test_saved_module_loads_through_the_checkpoint_format(tmp_path: Any) -> None:
    model, other = Block(), Block()
    vkml.optim.SGD(model.parameters())  # its parameters now are views of one memory
    with vkml.no_grad():
        model.weight.fill_(5)

    vkml.io.save_module(tmp_path / "block.vkml", model)
    vkml.io.load_module(tmp_path / "block.vkml", other)

    assert other.weight.tolist() == [5, 5, 5]
    np.testing.assert_array_equal(
        other.inner.weight.detach().numpy(), model.inner.weight.detach().numpy()
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])  # noqa: S301 - made here
def test_copy_has_the_values_and_ties_but_not_the_memory(copied: Any) -> None:
    block = Block()
    vkml.optim.SGD(block.parameters())

    other = copied(block)
    with vkml.no_grad():
        block.weight.zero_()

    assert other.weight.tolist() == [1, 1, 1]
    assert isinstance(other.weight, vkml.Parameter)
    assert other.tied.weight is other.inner.weight
    assert other.inner.weight is not block.inner.weight
    assert list(other.state_dict()) == list(block.state_dict())


def test_to_takes_the_name_of_a_dtype() -> None:
    assert nn.Linear(2, 1).to("float64").weight.dtype is vkml.float64
