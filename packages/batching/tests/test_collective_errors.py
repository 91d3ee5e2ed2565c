"""A collective that cannot be says what is wrong: names, groups, dimensions and permutations."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import batching
from lawful.batching import UnboundAxisError, vmap
from lawful.core import ArgumentTypeError, ArgumentValueError

COLLECTIVES: dict[str, Callable[..., Any]] = {
    "psum": batching.psum,
    "pmean": batching.pmean,
    "pmax": batching.pmax,
    "pmin": batching.pmin,
    "all_gather": batching.all_gather,
    "psum_scatter": batching.psum_scatter,
    "all_to_all": lambda x, n, **o: batching.all_to_all(x, n, 0, 0, **o),
    "pswapaxes": lambda x, n, **o: batching.pswapaxes(x, n, 0, **o),
    "ppermute": lambda x, n: batching.ppermute(x, n, [(0, 1)]),
    "pshuffle": lambda x, n: batching.pshuffle(x, n, [0, 1, 2]),
    "pbroadcast": lambda x, n: batching.pbroadcast(x, n, 0),
    "axis_index": lambda x, n: batching.axis_index(n),
    "axis_size": lambda x, n: batching.axis_size(n),
    "pvary": batching.pvary,
    "pcast": lambda x, n: batching.pcast(x, n, to="varying"),
}
WITH_GROUPS = [name for name in COLLECTIVES if name == "pswapaxes" or name in ("all_gather", "psum_scatter")]
REDUCTIONS = ["psum", "pmax", "pmin"]


def run(function: Callable[..., Any]) -> Any:
    return vmap(vmap(function, axis_name="j"), axis_name="i")(np.ones((2, 3, 3)))


@pytest.mark.parametrize("names", ["k", ("i", "k"), ["k", "i"]])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective_over_an_unknown_axis_error(name: str, names: Any) -> None:
    with pytest.raises(UnboundAxisError, match=r"enclosing vmap, pmap or shard_map \('i', 'j'\), got 'k'"):
        run(lambda x: COLLECTIVES[name](x, names))


@pytest.mark.parametrize("name", [name for name in COLLECTIVES if name != "axis_size"])
def test_collective_over_one_axis_twice_error(name: str) -> None:
    with pytest.raises(ArgumentValueError, match="expected different axis names, got "):
        run(lambda x: COLLECTIVES[name](x, ("j", "j")))


@pytest.mark.parametrize("name", ["all_gather", "psum_scatter", "all_to_all", "ppermute", "pbroadcast", "pshuffle"])
def test_exchange_over_no_axis_error(name: str) -> None:
    with pytest.raises(ArgumentValueError, match=f"{name}: expected the name of an axis, got none"):
        run(lambda x: COLLECTIVES[name](x, ()))


def test_reduction_over_no_axis_is_the_operand() -> None:
    for name in ("psum", "pmean", "pmax", "pmin", "pvary", "pcast"):
        np.testing.assert_array_equal(run(lambda x, f=COLLECTIVES[name]: f(x, ())), np.ones((2, 3, 3)))
    np.testing.assert_array_equal(run(lambda x: batching.axis_index(())), np.zeros((2, 3)))
    np.testing.assert_array_equal(run(lambda x: x * batching.axis_size(()) * batching.psum(1, ())), np.ones((2, 3, 3)))


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1], [1, 2]], [[0, 1], [3]], [[0], [1, 2, 2]], [], 3, ["ab"]])
@pytest.mark.parametrize("name", [*WITH_GROUPS, *REDUCTIONS, "pmean"])
def test_collective_in_bad_groups_error(name: str, groups: Any) -> None:
    words = r"expected axis_index_groups.* that have each of 3 positions once, got "
    with pytest.raises(ArgumentValueError, match=words):
        run(lambda x: COLLECTIVES[name](x, "j", axis_index_groups=groups))


@pytest.mark.parametrize("name", [*WITH_GROUPS, "pmean"])
def test_exchange_in_uneven_groups_error(name: str) -> None:
    with pytest.raises(ArgumentValueError, match="expected axis_index_groups of one length"):
        run(lambda x: COLLECTIVES[name](x, "j", axis_index_groups=[[0, 1], [2]]))


def test_psum_of_a_number_in_uneven_groups_error() -> None:
    with pytest.raises(ArgumentValueError, match="psum of a number: expected axis_index_groups of one length"):
        run(lambda x: x * batching.psum(1, "j", axis_index_groups=[[0, 1], [2]]))
    found = run(lambda x: x * batching.psum(1, ("i", "j"), axis_index_groups=[[0, 1, 2], [3, 4, 5]]))
    np.testing.assert_array_equal(found, np.full((2, 3, 3), 3.0))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda x: batching.psum_scatter(x, ("i", "j"), tiled=True),
            "psum_scatter: expected dimension 0 of the operand to have a multiple of 6, the size of the axis "
            "('i', 'j'), got 3 in the shape (3,)",
        ),
        (
            lambda x: batching.psum_scatter(x, "i"),
            "psum_scatter: expected dimension 0 of the operand to have length 2, the size of the axis 'i' (or give "
            "tiled=True), got 3 in the shape (3,)",
        ),
        (
            lambda x: batching.all_to_all(x, "i", -1, 0, tiled=True),
            "all_to_all: expected dimension 0 of the operand to have a multiple of 2, the size of the axis 'i', got 3",
        ),
        (
            lambda x: batching.all_to_all(x[:2], "j", 0, 0),
            "all_to_all: expected dimension 0 of the operand to have length 3, the size of the axis 'j'",
        ),
    ],
)
def test_exchange_of_an_indivisible_dimension_error(function: Any, words: str) -> None:
    with pytest.raises(ArgumentValueError, match=re.escape(words)):
        run(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: batching.all_gather(x, "i", axis=2),
        lambda x: batching.all_gather(x, "i", axis=1, tiled=True),
        lambda x: batching.psum_scatter(x, "j", scatter_dimension=1),
        lambda x: batching.all_to_all(x, "j", 1, 0),
        lambda x: batching.all_to_all(x, "j", 0, -2),
    ],
)
def test_exchange_along_no_dimension_error(function: Any) -> None:
    with pytest.raises(np.exceptions.AxisError, match="expected an axis of an array with"):
        run(function)


@pytest.mark.parametrize("perm", [[(0, 3)], [(0, 1), (0, 2)], [(0, 1), (2, 1)], [(-1, 0)]])
def test_ppermute_of_bad_pairs_error(perm: Any) -> None:
    words = f"ppermute: expected pairs in which each of 3 positions occurs once at most, got {perm}"
    with pytest.raises(ArgumentValueError, match=re.escape(words)):
        run(lambda x: batching.ppermute(x, "j", perm))


@pytest.mark.parametrize("perm", [[0, 1], [(0, 1, 2)], 3, ["a"]])
def test_ppermute_of_no_pairs_error(perm: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="ppermute: expected perm of pairs of a source and a destination"):
        run(lambda x: batching.ppermute(x, "j", perm))


def test_pshuffle_of_no_permutation_error() -> None:
    for perm in ([0, 1], [0, 0, 1], [1, 2, 3]):
        with pytest.raises(ArgumentValueError, match="pshuffle: expected a permutation of 3 positions"):
            run(lambda x, perm=perm: batching.pshuffle(x, "j", perm))


def test_pbroadcast_of_no_position_error() -> None:
    for source in (-1, 6):
        with pytest.raises(ArgumentValueError, match=f"pbroadcast: expected a source from 0 to 5, got {source}"):
            run(lambda x, source=source: batching.pbroadcast(x, ("i", "j"), source))
    with pytest.raises(ArgumentTypeError):
        run(lambda x: batching.pbroadcast(x, "i", 0.5))


def test_cast_to_unknown_error() -> None:
    with pytest.raises(ArgumentValueError, match="pcast: expected to='varying', got 'invarying'"):
        run(lambda x: batching.pcast(x, "i", to="invarying"))
    with pytest.raises(ArgumentValueError, match="all_gather: expected to='varying' or 'invarying', got 'all'"):
        run(lambda x: batching.all_gather(x, "i", to="all"))
    with pytest.raises(ArgumentValueError, match="expected no axis_index_groups with to='invarying'"):
        run(lambda x: batching.all_gather(x, "i", to="invarying", axis_index_groups=[[0], [1]]))
