from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import vkml
from vkml import data, nn


@pytest.fixture(autouse=True, scope="module")
def _importable() -> Any:
    """Let workers import the data sets below by name."""
    folder = str(Path(__file__).parent)
    sys.path.insert(0, folder)
    yield
    sys.path.remove(folder)


def _samples() -> Any:
    name = "worker_samples"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


samples = _samples()
Numbers, Stream, Noise = samples.Numbers, samples.Stream, samples.Noise


class Point(NamedTuple):
    x: Any
    y: Any


def lists(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


# data sets -------------------------------------------------------------------------------------


def test_tensor_dataset_gives_rows_and_whole_batches() -> None:
    rows = data.TensorDataset(vkml.arange(6).reshape(3, 2), vkml.tensor([5, 6, 7]))

    assert len(rows) == 3
    assert [each.tolist() for each in rows[1]] == [[2, 3], 6]
    assert [each.tolist() for each in rows.gather([2, 0])] == [[[4, 5], [0, 1]], [7, 5]]


def test_loader_of_tensors_equals_collating_their_rows() -> None:
    rows = data.TensorDataset(vkml.arange(10).reshape(5, 2), vkml.arange(5).float())

    fast = list(data.DataLoader(rows, batch_size=2))
    slow = list(data.DataLoader(rows, batch_size=2, collate_fn=data.default_collate))

    assert len(fast) == 3
    for a, b in zip(fast, slow, strict=True):
        assert [each.tolist() for each in a] == [each.tolist() for each in b]


def test_tensors_of_different_lengths_are_refused() -> None:
    with pytest.raises(vkml.ShapeError, match="one first size"):
        data.TensorDataset(vkml.zeros(2), vkml.zeros(3))


def test_arrays_are_refused_at_once_with_the_way_to_make_tensors() -> None:
    with pytest.raises(vkml.DTypeError, match=r"argument 1 is a ndarray.*vkml\.from_numpy"):
        data.TensorDataset(vkml.ones(3), np.ones(3))  # type: ignore[arg-type]  # wrong on purpose


def test_subset_gathers_through_its_data_set_and_can_be_pickled() -> None:
    rows = data.TensorDataset(vkml.arange(10) * 10)
    subset = data.Subset(data.Subset(rows, [9, 8, 7, 6]), [3, 0])

    for each in (subset, pickle.loads(pickle.dumps(subset))):  # noqa: S301 - made here
        assert [value.tolist() for (value,) in data.DataLoader(each, batch_size=2)] == [[60, 90]]
    assert not hasattr(data.Subset(Numbers(3), [0]), "gather")


def test_data_sets_add_up() -> None:
    both = Numbers(2) + Numbers(3)

    assert [both[index] for index in range(5)] == [0, 1, 0, 1, 2]
    assert both[-1] == 2
    with pytest.raises(IndexError, match="there is no sample 5"):
        both[5]


def test_random_split_divides_by_numbers_or_fractions() -> None:
    vkml.manual_seed(1)
    parts = data.random_split(Numbers(10), [7, 3])
    vkml.manual_seed(1)
    again = data.random_split(Numbers(10), [0.7, 0.3])

    assert [list(part.indices) for part in parts] == [list(part.indices) for part in again]
    assert sorted([*parts[0].indices, *parts[1].indices]) == list(range(10))
    with pytest.raises(vkml.ArgumentError, match="do not sum up"):
        data.random_split(Numbers(10), [5, 4])


# samplers ----------------------------------------------------------------------------------------


def test_random_sampler_draws_each_once_unless_told_otherwise() -> None:
    source = range(10)

    assert sorted(data.RandomSampler(source)) == list(source)
    assert len(list(data.RandomSampler(source, num_samples=25))) == 25
    drawn = list(data.RandomSampler(source, replacement=True, num_samples=50))
    assert len(drawn) == 50
    assert set(drawn) <= set(source)


def test_batch_sampler_drops_the_rest_if_asked_to() -> None:
    assert list(data.BatchSampler(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(data.BatchSampler(range(5), 2, drop_last=True)) == 2
    assert len(data.BatchSampler(range(5), 2, drop_last=False)) == 3


# the loader --------------------------------------------------------------------------------------


def test_loader_goes_in_order_and_counts_batches() -> None:
    loader = data.DataLoader(Numbers(5), batch_size=2)

    assert lists(loader) == [[0, 1], [2, 3], [4]]
    assert len(loader) == 3
    assert lists(data.DataLoader(Numbers(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(data.DataLoader(Numbers(3), batch_size=None)) == [0, 1, 2]


def test_shuffled_order_comes_from_the_seed_and_changes_each_time() -> None:
    loader = data.DataLoader(Numbers(16), batch_size=16, shuffle=True)

    vkml.manual_seed(0)
    first, second = lists(loader), lists(loader)
    vkml.manual_seed(0)

    assert lists(loader) == first
    assert first != second
    assert sorted(first[0]) == list(range(16))


def test_shuffled_order_comes_from_the_generator() -> None:
    orders = []
    for _ in range(2):
        generator = vkml.Generator()
        generator.manual_seed(7)
        orders.append(lists(data.DataLoader(Numbers(16), 16, shuffle=True, generator=generator)))

    assert orders[0] == orders[1]


def test_samplers_decide_on_order_and_batches() -> None:
    assert lists(data.DataLoader(Numbers(9), 2, sampler=[8, 1, 4])) == [[8, 1], [4]]
    assert lists(data.DataLoader(Numbers(9), batch_sampler=[[3], [2, 1]])) == [[3], [2, 1]]


def test_iterable_data_set_is_cut_into_batches() -> None:
    assert lists(data.DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert lists(data.DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(data.DataLoader(Stream(5), batch_size=2)) == 3


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"shuffle": True, "sampler": [0]}, "not both"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "decides on the batches alone"),
        ({"batch_size": 0}, "give 1 or more"),
        ({"batch_size": None, "drop_last": True}, "nothing to drop"),
        ({"num_workers": -1}, "num_workers is -1"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(options: Any, part: str) -> None:
    with pytest.raises(vkml.ArgumentError, match=part):
        data.DataLoader(Numbers(3), **options)


def test_iterable_data_set_takes_no_order() -> None:
    with pytest.raises(vkml.ArgumentError, match="IterableDataset decides"):
        data.DataLoader(Stream(3), shuffle=True)


# collation ------------------------------------------------------------------------------------


def test_collation_goes_into_tuples_mappings_and_arrays() -> None:
    batch: Any = data.default_collate(
        [
            {"image": np.zeros((2,), np.float32), "label": 1, "name": "a", "at": Point(0.5, 1)},
            {"image": np.ones((2,), np.float32), "label": 2, "name": "b", "at": Point(1.5, 2)},
        ]
    )

    assert batch["image"].tolist() == [[0, 0], [1, 1]]
    assert batch["label"].dtype is vkml.int64
    assert batch["name"] == ["a", "b"]
    assert type(batch["at"]) is Point
    assert batch["at"].x.tolist() == [0.5, 1.5]


def test_collation_of_what_does_not_fit_says_so() -> None:
    with pytest.raises(vkml.ShapeError, match="different shapes"):
        data.default_collate([vkml.zeros(2), vkml.zeros(3)])
    with pytest.raises(vkml.ShapeError, match="numbers of parts"):
        data.default_collate([(1, 2), (1,)])
    with pytest.raises(vkml.DTypeError, match="is a object"):
        data.default_collate([object()])
    with pytest.raises(vkml.ShapeError, match="different shapes"):
        data.default_collate([np.zeros(2), np.zeros(3)])
    with pytest.raises(vkml.ArgumentError, match="no samples"):
        data.default_collate([])
    for other in ({"b": 1}, {"a": 1, "b": 1}):
        with pytest.raises(vkml.ArgumentError, match="different names"):
            data.default_collate([{"a": 1}, other])


def test_tensors_and_arrays_may_stand_in_one_batch() -> None:
    assert data.default_collate([vkml.ones(1), np.zeros(1, "f4")]).tolist() == [[1], [0]]
    assert data.default_collate([np.zeros(1, "f4"), vkml.ones(1)]).tolist() == [[0], [1]]


# workers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [None, 2])
@pytest.mark.parametrize("sampler", [[], [2, 0, 1], np.array([2, 0, 1]), vkml.tensor([2, 0, 1])])
def test_sampler_may_be_any_iterable_of_numbers(sampler: Any, batch_size: int | None) -> None:
    loader = data.DataLoader(["a", "b", "c"], batch_size=batch_size, sampler=sampler)

    samples = list(loader) if batch_size is None else [each for batch in loader for each in batch]
    assert samples == ["c", "a", "b"][: len(sampler)]


def test_a_data_set_may_have_names_for_its_samples() -> None:
    named = {"one": 1, "two": 2}

    assert list(data.DataLoader(named, batch_size=None, sampler=["two", "one"])) == [2, 1]  # type: ignore[list-item]  # names do too


def test_a_sampler_that_is_an_array_excludes_other_orders_too() -> None:
    with pytest.raises(vkml.ArgumentError, match="batch_sampler decides"):
        data.DataLoader([1, 2], sampler=np.array([0, 1]), batch_sampler=[[0]])


def test_negative_numbers_count_from_the_end_in_batches_too() -> None:
    dataset = data.TensorDataset(vkml.arange(6))

    (batch,) = data.DataLoader(data.Subset(dataset, [-1, 2, -6]), batch_size=3)
    assert batch[0].tolist() == [5, 2, 0]


@pytest.mark.parametrize("lengths", [[1.0], [1, 0], [1.0, 0.0]])
def test_random_split_takes_whole_fractions(lengths: Any) -> None:
    parts = data.random_split(range(10), lengths)

    assert [len(part) for part in parts] == [10, 0][: len(lengths)]


def test_workers_give_the_same_batches_in_the_same_order() -> None:
    options: Any = {"batch_size": 3, "shuffle": True}

    vkml.manual_seed(0)
    alone = lists(data.DataLoader(Numbers(16), **options))
    vkml.manual_seed(0)

    assert lists(data.DataLoader(Numbers(16), num_workers=2, **options)) == alone


def test_workers_divide_an_iterable_data_set() -> None:
    batches = lists(data.DataLoader(Stream(7), batch_size=2, num_workers=2))

    assert batches == [[0, 2], [1, 3], [4, 6], [5]]


def test_workers_are_seeded_each_for_itself_and_repeatably() -> None:
    loader = data.DataLoader(Noise(), batch_size=3, num_workers=2)

    vkml.manual_seed(0)
    first = lists(loader)
    vkml.manual_seed(0)

    assert lists(loader) == first
    assert first[0] != first[1]


def test_what_a_data_set_raises_in_a_worker_is_raised_with_its_place() -> None:
    loader = data.DataLoader(Numbers(18), batch_size=6, num_workers=1)

    with pytest.raises(ValueError, match="sample 17 is broken") as caught:
        list(loader)

    assert "__getitem__" in str(caught.value.__cause__)


def test_exception_that_cannot_be_sent_is_raised_in_words() -> None:
    loader = data.DataLoader(data.Subset(Numbers(20), [18]), num_workers=1)

    with pytest.raises(RuntimeError, match="Unportable: sample 18 is lost"):
        list(loader)


def test_worker_that_dies_is_an_error_that_says_so() -> None:
    loader = data.DataLoader(data.Subset(Numbers(20), [0, 19]), num_workers=1)

    with pytest.raises(nn.WorkerError, match="worker 0 died"):
        list(loader)


def test_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import vkml\n"
        "dataset = vkml.data.TensorDataset(vkml.arange(3))\n"
        "print(list(vkml.data.DataLoader(dataset, num_workers=1)))\n"
    )

    result = subprocess.run([sys.executable, script], capture_output=True, text=True)

    assert result.returncode == 1
    assert "Put what it runs under 'if __name__ == \"__main__\":'" in result.stderr
    assert "bootstrapping" not in result.stderr


def test_loader_with_workers_can_be_left_early() -> None:
    batches: Any = iter(data.DataLoader(Numbers(16), batch_size=2, num_workers=2))

    assert next(batches).tolist() == [0, 1]
    batches.close()
