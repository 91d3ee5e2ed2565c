"""Each collective against its definition by a loop over positions, for axes in every order and nesting."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lawful import batching, tree
from lawful.batching import vmap
from lawful.core import check_jaxpr, eval_closed_jaxpr
from lawful.staging import jit, make_jaxpr

SIZES = {"a": 2, "b": 3, "c": 2}

Reference = Callable[[list[np.ndarray[Any, Any]], int], Any]
"""The result of a collective from the operands of the members of a group, at a position in it."""


def by_loop(reference: Reference, x: Any, axes: Sequence[str], names: Any, groups: Any = None) -> Any:
    """Returns the results of all positions; the first dimensions of ``x`` are the axes."""
    names = names if isinstance(names, tuple) else (names,)
    results = {}
    for position in itertools.product(*(range(SIZES[axis]) for axis in axes)):
        along = list(itertools.product(*(range(SIZES[name]) for name in names)))
        mine = along.index(tuple(position[axes.index(name)] for name in names))
        (group,) = [g for g in groups or [range(len(along))] if mine in g]
        members = []
        for member in group:
            there = dict(zip(axes, position, strict=True)) | dict(zip(names, along[member], strict=True))
            members.append(x[tuple(there[axis] for axis in axes)])
        results[position] = np.asarray(reference(members, list(group).index(mine)))
    out = np.stack(list(results.values()))
    return out.reshape(*(SIZES[axis] for axis in axes), *out.shape[1:])


def by_vmap(function: Callable[..., Any], axes: Sequence[str], nesting: Sequence[str], wrap: Any = None) -> Any:
    """Returns the function mapped over all axes, which are the first dimensions, nested from the outermost inwards."""
    mapped = wrap(function) if wrap else function
    for depth in reversed(range(len(nesting))):
        at = [axis for axis in axes if axis not in nesting[:depth]].index(nesting[depth])
        mapped = vmap(mapped, in_axes=at, out_axes=at, axis_name=nesting[depth])
    return mapped


def tiled(dim: int, count: int, at: int, x: Any) -> Any:
    return np.split(x, count, dim)[at]


def gathered(axis: int, is_tiled: bool) -> Reference:
    return lambda xs, i: np.concatenate(xs, axis) if is_tiled else np.stack(xs, axis)


def scattered(dim: int, is_tiled: bool) -> Reference:
    def reference(xs: Any, i: int) -> Any:
        part = tiled(dim, len(xs), i, sum(xs[1:], xs[0]))
        return part if is_tiled else part.squeeze(dim)

    return reference


def exchanged(split: int, concat: int, is_tiled: bool) -> Reference:
    def reference(xs: Any, i: int) -> Any:
        parts = [tiled(split, len(xs), i, x) for x in xs]
        return np.concatenate(parts, concat) if is_tiled else np.stack([p.squeeze(split) for p in parts], concat)

    return reference


def permuted(perm: Sequence[tuple[int, int]]) -> Reference:
    sources = {destination: source for source, destination in perm}
    return lambda xs, i: xs[sources[i]] if i in sources else np.zeros_like(xs[0])


LINEAR = {
    "psum": (lambda x, n, **o: batching.psum(x, n, **o), lambda xs, i: sum(xs[1:], xs[0])),
    "pmean": (lambda x, n, **o: batching.pmean(x, n, **o), lambda xs, i: sum(xs[1:], xs[0]) / len(xs)),
    **{
        f"all_gather {axis} {'tiled' if t else ''}": (
            lambda x, n, axis=axis, t=t, **o: batching.all_gather(x, n, axis=axis, tiled=t, **o),
            gathered(axis, t),
        )
        for axis, t in itertools.product((0, 1, -1), (False, True))
    },
    **{
        f"psum_scatter {dim}": (
            lambda x, n, dim=dim, **o: batching.psum_scatter(x, n, scatter_dimension=dim, tiled=True, **o),
            scattered(dim, True),
        )
        for dim in (0, 1, -1)
    },
    **{
        f"all_to_all {split} {concat}": (
            lambda x, n, s=split, c=concat, **o: batching.all_to_all(x, n, s, c, tiled=True, **o),
            exchanged(split, concat, True),
        )
        for split, concat in itertools.product((0, 1, -1), repeat=2)
    },
}
EXTREMA = {
    "pmax": (lambda x, n, **o: batching.pmax(x, n, **o), lambda xs, i: np.max(xs, 0)),
    "pmin": (lambda x, n, **o: batching.pmin(x, n, **o), lambda xs, i: np.min(xs, 0)),
}
UNTILED = {
    **{
        f"psum_scatter {dim}": (
            lambda x, n, dim=dim, **o: batching.psum_scatter(x, n, scatter_dimension=dim, **o),
            scattered(dim, False),
            dim,
        )
        for dim in (0, 1, -1)
    },
    **{
        f"all_to_all {split} {concat}": (
            lambda x, n, s=split, c=concat, **o: batching.all_to_all(x, n, s, c, **o),
            exchanged(split, concat, False),
            split,
        )
        for split, concat in itertools.product((0, 1, -1), repeat=2)
    },
}
NAMES = ["a", "b", *itertools.permutations("ab"), ("c",), ("b", "c"), ("c", "a"), *itertools.permutations("abc")]


def operand(axes: Sequence[str], *shape: int, dtype: Any = float) -> Any:
    shape = (*(SIZES[axis] for axis in axes), *shape)
    return np.random.default_rng(0).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("names", NAMES, ids=str)
@pytest.mark.parametrize("name", [*LINEAR, *EXTREMA])
def test_collective_is_its_definition(name: str, names: Any, require_same: Any) -> None:
    function, reference = {**LINEAR, **EXTREMA}[name]
    axes = "abc" if "c" in names else "ab"
    x = operand(axes, 12, 12)
    expected = by_loop(reference, x, axes, names)
    for nesting in itertools.permutations(axes):
        require_same(by_vmap(lambda v: function(v, names), axes, nesting)(x), expected)


@pytest.mark.parametrize("names", NAMES, ids=str)
@pytest.mark.parametrize("name", UNTILED)
def test_collective_untiled_is_its_definition(name: str, names: Any, require_same: Any) -> None:
    function, reference, dim = UNTILED[name]
    axes = "abc" if "c" in names else "ab"
    shape = [4, 5]
    shape[dim] = int(np.prod([SIZES[n] for n in names]))
    x = operand(axes, *shape)
    expected = by_loop(reference, x, axes, names)
    for nesting in itertools.permutations(axes):
        require_same(by_vmap(lambda v: function(v, names), axes, nesting)(x), expected)


GROUPS = [
    ("b", [[0, 1, 2]]),
    ("b", [[2, 0, 1]]),
    ("b", [[1], [0], [2]]),
    (("a", "c"), [[0, 3], [2, 1]]),
    (("c", "b"), [[0, 5, 3], [4, 1, 2]]),
    (("b", "a", "c"), [[11, 0, 3], [1, 10, 2], [4, 5, 6], [9, 8, 7]]),
]


@pytest.mark.parametrize(("names", "groups"), GROUPS, ids=str)
@pytest.mark.parametrize("name", [*LINEAR, *EXTREMA])
def test_collective_in_groups_is_its_definition(name: str, names: Any, groups: Any, require_same: Any) -> None:
    function, reference = {**LINEAR, **EXTREMA}[name]
    axes = "abc"
    x = operand(axes, 12, 12)
    expected = by_loop(reference, x, axes, names, groups)
    for nesting in itertools.permutations(axes):
        mapped = by_vmap(lambda v: function(v, names, axis_index_groups=groups), axes, nesting)
        require_same(mapped(x), expected)


@pytest.mark.parametrize("name", ["psum", "pmax", "pmin"])
@pytest.mark.parametrize(("names", "groups"), [("b", [[2, 0], [1]]), (("b", "a"), [[5, 0, 3], [4], [1, 2]])])
def test_reduction_in_uneven_groups(name: str, names: Any, groups: Any, require_same: Any) -> None:
    function, reference = {**LINEAR, **EXTREMA}[name]
    x = operand("ab", 4)
    expected = by_loop(reference, x, "ab", names, groups)
    for nesting in itertools.permutations("ab"):
        require_same(by_vmap(lambda v: function(v, names, axis_index_groups=groups), "ab", nesting)(x), expected)


PERMS = [
    ("b", [(0, 1), (1, 2), (2, 0)]),
    ("b", [(2, 0)]),
    ("b", []),
    (("a", "b"), [(i, (i + 1) % 6) for i in range(6)]),
    (("b", "a"), [(i, (i + 1) % 6) for i in range(6)]),
    (("b", "a"), [(0, 4), (3, 3), (5, 0), (1, 2)]),
    (("a", "b", "c"), [(i, (5 * i + 3) % 12) for i in range(12)]),
    (("c", "a", "b"), [(i, i + 2) for i in range(10)]),
]


@pytest.mark.parametrize(("names", "perm"), PERMS, ids=str)
def test_ppermute_is_its_definition(names: Any, perm: Any, require_same: Any) -> None:
    axes = "abc"
    for dtype in (float, bool, np.int8, np.complex64):
        x = operand(axes, 2, dtype=dtype)
        expected = by_loop(permuted(perm), x, axes, names)
        for nesting in itertools.permutations(axes):
            require_same(by_vmap(lambda v: batching.ppermute(v, names, perm), axes, nesting)(x), expected)


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_pbroadcast_is_its_definition(names: Any, require_same: Any) -> None:
    axes = "abc"
    x = operand(axes, 2)
    x[0, 0] = -0.0
    for source in range(int(np.prod([SIZES[n] for n in names]))):
        expected = by_loop(lambda xs, i, source=source: xs[source], x, axes, names)
        for nesting in itertools.permutations(axes):
            found = by_vmap(lambda v, source=source: batching.pbroadcast(v, names, source), axes, nesting)(x)
            require_same(found, expected)
            assert np.array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_axis_index_is_its_definition(names: Any, require_same: Any) -> None:
    axes = "abc"
    x = operand(axes)
    expected = by_loop(lambda xs, i: np.int32(i), x, axes, names)
    for nesting in itertools.permutations(axes):
        require_same(by_vmap(lambda v: batching.axis_index(names), axes, nesting)(x), expected)
    found = by_vmap(lambda v: v * 0 + batching.axis_size(names), axes, axes)(x)
    assert (found == np.prod([SIZES[n] for n in names])).all()


@pytest.mark.parametrize("name", ["pvary", "pcast", "psum_invariant", "all_gather_invariant"])
def test_typed_collective_is_the_untyped_one_under_vmap(name: str, require_same: Any) -> None:
    functions = {
        "pvary": (lambda x, n: batching.pvary(x, n), lambda x, n: x),
        "pcast": (lambda x, n: batching.pcast(x, n, to="varying"), lambda x, n: x),
        "psum_invariant": (lambda x, n: batching.psum_invariant_p.bind(x, axis_name=n), batching.psum),
        "all_gather_invariant": (lambda x, n: batching.all_gather(x, n, to="invarying"), batching.all_gather),
    }
    typed, untyped = functions[name]
    x = operand("abc", 3)
    for names in NAMES:
        names = names[0] if len(names) == 1 else names
        for nesting in itertools.permutations("abc"):
            found, expected = (by_vmap(lambda v, f=f, n=names: f(v, n), "abc", nesting)(x) for f in (typed, untyped))
            require_same(found, expected)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32, np.complex64])
def test_collective_keeps_the_dtype(dtype: Any, require_same: Any) -> None:
    x = operand("ab", 12, 12, dtype=dtype)
    for name, (function, reference) in {**LINEAR, **EXTREMA}.items():
        if name == "pmean" or (dtype == np.complex64 and name in EXTREMA):
            continue
        # A sum of bools is an integer, as in NumPy.
        is_sum = name == "psum" or name.startswith("psum_scatter")
        given = x.astype(np.int64) if dtype is bool and is_sum else x
        with np.errstate(over="ignore"):
            expected = by_loop(reference, given, "ab", ("b", "a"))
        require_same(by_vmap(lambda v, f=function: f(v, ("b", "a")), "ab", "ab")(x), expected)


WRAPS = {
    "jit": lambda f: jit(f, backend="numpy"),
    "jaxpr": lambda f: (
        lambda x: eval_closed_jaxpr(make_jaxpr(f, axis_env=[(n, SIZES[n]) for n in "ab"])(np.ones(np.shape(x))), x)[0]
    ),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", [*LINEAR, *EXTREMA])
def test_collective_staged_is_its_definition(name: str, wrap: str, require_same: Any) -> None:
    function, reference = {**LINEAR, **EXTREMA}[name]
    x = operand("ab", 12, 12)
    for names in ("b", ("a", "b"), ("b", "a")):
        expected = by_loop(reference, x, "ab", names)
        for nesting in ("ab", "ba"):
            staged = by_vmap(lambda v, n=names: function(v, n), "ab", nesting, WRAPS[wrap])
            require_same(staged(x), expected)
            require_same(jit(staged, backend="numpy")(x), expected)


def test_collective_of_several_axes_is_one_equation(primitives_of: Any) -> None:
    functions = {**LINEAR, **EXTREMA}
    names = ("b", "a")
    for name, (function, _) in functions.items():
        closed = make_jaxpr(lambda x, f=function: f(x, names), axis_env=[("a", 2), ("b", 3)])(np.ones((12, 12)))
        check_jaxpr(closed)
        over = [eqn for eqn in closed.eqns if "axis_name" in eqn.params]
        assert len(over) == 1, name
        assert over[0].params["axis_name"] == names


@pytest.mark.parametrize("name", [*LINEAR, *EXTREMA])
def test_collective_over_another_axis_stays(name: str, require_same: Any) -> None:
    """A vmap over an axis that the collective does not name is passed through, wherever its dimension is."""
    function, reference = {**LINEAR, **EXTREMA}[name]
    x = operand("ab", 12, 12)
    expected = by_loop(reference, x, "ab", "b")
    for dim, out_dim in itertools.product((0, 1, 2), (0, 1)):
        moved = np.moveaxis(x, 0, dim + 1)  # b, then a at dim of the elements
        inner = vmap(lambda v: function(v, "b"), in_axes=dim, out_axes=out_dim)
        found = vmap(inner, axis_name="b")(moved)
        require_same(found, np.moveaxis(expected, 0, out_dim + 1))
        closed = make_jaxpr(inner, axis_env=[("b", 3)])(moved[0])
        check_jaxpr(closed)


@pytest.mark.parametrize("name", UNTILED)
def test_untiled_collective_over_another_axis_stays(name: str, require_same: Any) -> None:
    function, reference, at = UNTILED[name]
    shape = [4, 5]
    shape[at] = SIZES["b"]
    x = operand("ab", *shape)
    expected = by_loop(reference, x, "ab", "b")
    for dim in (0, 1, 2):
        inner = vmap(lambda v: function(v, "b"), in_axes=dim)
        require_same(vmap(inner, axis_name="b")(np.moveaxis(x, 0, dim + 1)), np.moveaxis(expected, 0, 1))


def test_collective_of_trees_and_names_of_one() -> None:
    x = {"u": np.arange(6.0).reshape(3, 2), "v": [np.arange(3)]}
    for function in (batching.psum, batching.pmax, batching.all_gather, batching.pmean):
        one, many = (vmap(lambda t, n=n, f=function: f(t, n), axis_name="b")(x) for n in ("b", ["b"]))
        assert tree.structure(one) == tree.structure(many)
        for left, right in zip(tree.leaves(one), tree.leaves(many), strict=True):
            np.testing.assert_array_equal(left, right)


def test_collective_of_an_unmapped_operand() -> None:
    y = np.arange(12.0)

    def each(function: Callable[..., Any], names: Any) -> Any:
        inner = lambda x: vmap(lambda z: function(y, names), axis_name="b")(x)  # noqa: E731
        return vmap(inner, axis_name="a")(np.zeros((2, 3)))

    x = np.broadcast_to(y, (2, 3, 12))
    one_dimensional = {k: v for k, v in {**LINEAR, **EXTREMA}.items() if " 1" not in k}
    for names in ("a", "b", ("a", "b"), ("b", "a")):
        for function, reference in one_dimensional.values():
            np.testing.assert_allclose(each(function, names), by_loop(reference, x, "ab", names), rtol=1e-15)
        count = int(np.prod([SIZES[n] for n in names]))
        for perm in ([(0, 1)], [(i, (i + 1) % count) for i in range(count)]):
            found = each(lambda v, n, p=perm: batching.ppermute(v, n, p), names)
            np.testing.assert_array_equal(found, by_loop(permuted(perm), x, "ab", names))
