"""Names of mapped axes: sums, means and extrema over them, and the index along them."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful.batching import (
    UnboundAxisError,
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    psum_scatter,
    vmap,
)
from lawful.core import check_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

X = np.array([1.0, 2.0, 5.0])
A = np.arange(6.0).reshape(2, 3)


def named(function: Callable[..., Any], name: Any = "i", **options: Any) -> Callable[..., Any]:
    return vmap(function, axis_name=name, **options)


@pytest.mark.parametrize(
    "wrap",
    [lambda f: named(f), lambda f: named(jit(f)), lambda f: jit(named(f)), lambda f: named(jit(jit(f)))],
    ids=["vmap", "vmap jit", "jit vmap", "vmap jit jit"],
)
def test_named_axis_reductions_over_the_axis(wrap: Any, require_same: Any) -> None:
    require_same(wrap(lambda x: psum(x, "i"))(X), np.full(3, 8.0))
    require_same(wrap(lambda x: pmean(x, "i"))(X), np.full(3, 8.0 / 3))
    require_same(wrap(lambda x: (pmax(x, "i"), pmin(x, "i")))(X), (np.full(3, 5.0), np.full(3, 1.0)))
    require_same(wrap(lambda x: x / psum(x, "i"))(X), X / 8.0)
    require_same(wrap(lambda x: axis_index("i") * x)(X), X * [0, 1, 2])
    require_same(wrap(lambda x: axis_index("i"))(X), np.arange(3, dtype=np.int32))
    require_same(wrap(lambda x: x * axis_size("i"))(X), X * 3)


def test_named_axis_result_is_the_same_for_all_elements(require_same: Any) -> None:
    require_same(named(lambda x: psum(x, "i"), out_axes=None)(X), np.float64(8.0))
    require_same(named(lambda x: pmax(x, "i"), out_axes=None)(A), A.max(0))


def test_named_axis_may_be_any_dimension(require_same: Any) -> None:
    require_same(named(lambda x: psum(x, "i"), in_axes=1, out_axes=None)(A), A.sum(1))
    require_same(named(lambda x: psum(x, "i"), in_axes=-1, out_axes=1)(A), np.repeat(A.sum(1)[:, None], 3, 1))


def test_named_axis_trees(require_same: Any) -> None:
    got = named(lambda d: psum(d, "i"), out_axes=None)({"a": X, "b": [A.T, np.arange(3)]})
    require_same(got, {"a": np.float64(8.0), "b": [A.sum(1), np.int64(3)]})
    got = named(lambda d: pmean(d, "i"), out_axes=None)({"a": X, "b": [A.T]})
    require_same(got, {"a": np.float64(8.0 / 3), "b": [A.mean(1)]})


def test_named_axis_what_all_elements_share_counts_once_element(require_same: Any) -> None:
    require_same(named(lambda x, y: psum(y, "i"), in_axes=(0, None), out_axes=None)(X, np.ones(2)), np.full(2, 3.0))
    require_same(named(lambda x, y: pmean(y, "i"), in_axes=(0, None), out_axes=None)(X, np.ones(2)), np.ones(2))
    require_same(named(lambda x, y: pmax(y, "i"), in_axes=(0, None), out_axes=None)(X, np.ones(2)), np.ones(2))


def test_named_axis_sum_of_a_python_number_is_known_at_once() -> None:
    sizes = []
    named(lambda x: sizes.append((psum(1, "i"), psum(2.5, "i"), axis_size("i"))) or x)(X)
    assert sizes == [(3, 7.5, 3)]
    assert type(sizes[0][0]) is int
    assert named(lambda x: np.ones(psum(1, "i")) * x)(X).shape == (3, 3)


def test_named_axis_mean_of_integers_is_a_float(require_same: Any) -> None:
    require_same(named(lambda x: pmean(x, "i"))(np.arange(4)), np.full(4, 1.5))


def test_named_axis_any_hashable_is_a_name() -> None:
    for name in ("batch", 1, ("a", "b").__hash__(), frozenset({"i"})):
        assert named(lambda x, n=name: psum(x, n), name)(X).tolist() == [8.0] * 3


# Nested axes.


def test_named_axis_each_of_two_axes_and_both(require_same: Any) -> None:
    def both(function: Any) -> Any:
        return named(lambda row: named(function, "j")(row), "i")(A)

    require_same(both(lambda x: psum(x, "j")), np.repeat(A.sum(1)[:, None], 3, 1))
    require_same(both(lambda x: psum(x, "i")), np.repeat(A.sum(0)[None], 2, 0))
    for names in (("i", "j"), ("j", "i"), ["i", "j"]):
        require_same(both(lambda x, n=names: psum(x, n)), np.full((2, 3), 15.0))
        require_same(both(lambda x, n=names: pmean(x, n)), np.full((2, 3), 2.5))
        require_same(both(lambda x, n=names: pmax(x, n)), np.full((2, 3), 5.0))
        assert both(lambda x, n=names: x * psum(1, n))[1, 2] == 30.0
    require_same(both(lambda x: 10 * axis_index("i") + axis_index("j")), np.array([[0, 1, 2], [10, 11, 12]], np.int32))
    require_same(both(lambda x: x - pmean(x, "j") + psum(x * axis_index("i"), "i")), A - A.mean(1)[:, None] + A[1])


def test_named_axis_innermost_axis_of_a_name_counts(require_same: Any) -> None:
    got = named(lambda row: named(lambda x: psum(x, "i"))(row) + psum(row, "i"))(A)
    require_same(got, A.sum(1)[:, None] + A.sum(0)[None])
    assert named(lambda row: named(lambda x: x * axis_size("i"))(row))(A)[0, 1] == 3.0


def test_named_axis_unnamed_vmap_in_between_is_passed_through(require_same: Any) -> None:
    require_same(named(lambda row: vmap(lambda x: psum(x, "i"))(row))(A), np.repeat(A.sum(0)[None], 2, 0))
    require_same(vmap(lambda row: named(lambda x: psum(x, "i"))(row))(A), np.repeat(A.sum(1)[:, None], 3, 1))
    require_same(named(lambda row: vmap(lambda x: axis_index("i"))(row))(A), np.array([[0] * 3, [1] * 3], np.int32))


# Names that are not there.


@pytest.mark.parametrize(
    "collective", [psum, pmean, pmax, pmin, lambda x, name: axis_index(name), lambda x, name: axis_size(name)]
)
def test_named_axis_name_that_is_not_bound_error(collective: Any) -> None:
    words = "axis name: expected an axis of an enclosing vmap, pmap or shard_map (none), got 'i'; correct it, or map "
    for call in (
        lambda: collective(1.0, "i"),
        lambda: vmap(lambda x: collective(x, "i"))(X),
        lambda: jit(collective, static_argnums=1)(X, "i"),
    ):
        with pytest.raises(UnboundAxisError, match=re.escape(words)) as caught:
            call()
        assert str(caught.value).startswith(f"{__file__}:")
        assert isinstance(caught.value, NameError)
    with pytest.raises(UnboundAxisError, match=re.escape("(0, 'i'), got 'j'")):
        named(lambda r: named(lambda x: collective(x, "j"))(r), 0)(A)


def test_named_axis_name_ends_with_its_vmap() -> None:
    named(lambda x: psum(x, "i"))(X)
    with pytest.raises(UnboundAxisError):
        psum(1.0, "i")
    with pytest.raises(UnboundAxisError):
        named(lambda x: (named(lambda y: y, "j")(X), psum(x, "j"))[1])(X)


def test_named_axis_name_ends_with_its_vmap_after_an_exception() -> None:
    with pytest.raises(KeyError):
        named(lambda x: {}[0])(X)
    with pytest.raises(UnboundAxisError):
        psum(1.0, "i")


# With jit: a trace depends on the names that are bound.


def test_named_axis_one_jit_under_axes_of_different_sizes(require_same: Any) -> None:
    total = jit(lambda x: psum(x, "i"))
    require_same(named(total)(X), np.full(3, 8.0))
    require_same(named(total)(np.ones(5)), np.full(5, 5.0))
    with pytest.raises(UnboundAxisError):
        total(1.0)
    size = jit(lambda x: x * axis_size("i"))
    require_same(named(size)(np.ones(2)), np.full(2, 2.0))
    require_same(named(size)(np.ones(4)), np.full(4, 4.0))


def test_named_axis_jit_without_mapped_operands_sees_the_axis(require_same: Any) -> None:
    require_same(named(lambda x: jit(lambda: axis_index("i"))() + x)(X), X + np.arange(3))
    require_same(named(lambda x, y: jit(lambda y: psum(y, "i"))(y) + x, in_axes=(0, None))(X, 1.0), X + 3.0)
    require_same(named(lambda x: jit(lambda: jit(lambda: axis_index("i") * 2)())() + x)(X), X + 2 * np.arange(3))


def test_named_axis_program_of_a_reduction() -> None:
    closed = make_jaxpr(named(lambda x: psum(x, "i"), out_axes=None))(A)
    assert [eqn.primitive.name for eqn in closed.eqns] == ["reduce_sum"]
    check_jaxpr(closed)


COLLECTIVES_OF_SEVERAL_AXES: dict[str, Any] = {
    "axis_index": lambda x, axis: x + axis_index(axis),
    "axis_size": lambda x, axis: x * axis_size(axis),
    "all_gather": lambda x, axis: all_gather(x, axis),
    "all_gather tiled": lambda x, axis: all_gather(x, axis, axis=1, tiled=True),
    "all_to_all": lambda x, axis: all_to_all(x, axis, 1, 0),
    "all_to_all tiled": lambda x, axis: all_to_all(x, axis, 1, 0, tiled=True),
    "ppermute": lambda x, axis: ppermute(x, axis, [(0, 3), (3, 5), (5, 1)]),
    "psum_scatter": lambda x, axis: psum_scatter(x, axis, scatter_dimension=1),
}


@pytest.mark.parametrize("name", COLLECTIVES_OF_SEVERAL_AXES)
def test_collective_of_several_axes_is_that_of_one_axis(name: str) -> None:
    function = COLLECTIVES_OF_SEVERAL_AXES[name]
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 6))
    nested = vmap(vmap(lambda x: function(x, ("i", "j")), axis_name="j"), axis_name="i")
    single = vmap(lambda x: function(x, "k"), axis_name="k")
    found, expected = nested(x), single(x.reshape(6, 2, 6))
    # Sums over two axes are added up in another order than over one.
    np.testing.assert_allclose(np.reshape(found, np.shape(expected)), expected, rtol=1e-13, atol=1e-15)
