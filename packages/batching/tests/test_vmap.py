"""`vmap`: the stacked loop over a dimension of the arguments, in one pass, for every choice of axes."""

import itertools
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from lawful import ops, tree
from lawful.batching import vmap
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    NonArrayError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    check_jaxpr,
    get_aval,
)
from lawful.staging import ShapeDtypeStruct, make_jaxpr
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

A = np.arange(24.0).reshape(2, 3, 4)


# Axes.


@pytest.mark.parametrize("out_axes", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("in_axes", [0, 1, 2, -1, -2, -3])
def test_vmap_every_axis_in_and_out(in_axes: int, out_axes: int, loop: Callable[..., Any], require_same: Any) -> None:
    function = lambda x: ops.sin(x) * x[0]  # noqa: E731
    expected = loop(function, in_axes, out_axes)(A)
    require_same(vmap(function, in_axes, out_axes)(A), expected)
    require_same(jit(vmap(function, in_axes, out_axes))(A), expected)


@pytest.mark.parametrize("axes", list(itertools.product([0, 1, -1, None], repeat=2))[:-1], ids=str)
def test_vmap_each_argument_has_its_axis(
    axes: tuple[int | None, ...], loop: Callable[..., Any], require_same: Any
) -> None:
    x, y = np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3) ** 2
    function = lambda x, y: ops.reduce_sum(x, tuple(range(x.ndim))) * y[0] + x[0] * 2.0  # noqa: E731
    require_same(vmap(function, axes)(x, y), loop(function, axes)(x, y))


def test_vmap_none_shares_an_argument_with_all_calls(require_same: Any) -> None:
    seen = []

    def function(x: Any, w: Any) -> Any:
        seen.append((x.shape, w))
        return x * w[0]

    w = np.array([2.0, 5.0])
    require_same(vmap(function, in_axes=(0, None))(np.arange(3.0), w), np.arange(3.0) * 2.0)
    assert seen[0][0] == ()
    assert seen[0][1] is w, "the function is given the argument itself"


def test_vmap_element_has_the_shape_and_dtype_of_one_example() -> None:
    seen = []
    vmap(lambda x, y: seen.append((x.shape, x.dtype, x.ndim, len(x), y.aval)) or x, (1, 0))(
        np.ones((2, 5, 3), np.float32), np.arange(5)
    )
    assert str(seen[0][-1]) == "i64[]"
    assert seen[0][:4] == ((2, 3), np.float32, 2, 2)


class Point(NamedTuple):
    x: Any
    y: Any


@pytest.mark.parametrize(
    "in_axes",
    [
        (0, None),
        [0, None],
        (Point(0, 0), None),
        (Point({"a": 0, "b": [0, 0]}, 0), None),
        (Point(0, -1), (None, None)),
    ],
    ids=str,
)
def test_vmap_in_axes_are_prefixes_of_the_arguments(in_axes: Any, require_same: Any) -> None:
    point = Point({"a": np.arange(3.0), "b": [np.ones((3, 2)), np.arange(3)]}, np.arange(3.0))
    scale = (2.0, np.array([1.0, 10.0]))
    got = vmap(lambda p, s: {"a": p.x["a"] * s[0], "b": p.x["b"][0] * s[1] + p.x["b"][1] + p.y}, in_axes)(point, scale)
    n = np.arange(3.0)
    require_same(got, {"a": 2.0 * n, "b": np.array([[1.0, 10.0]] * 3) + 2.0 * n[:, None]})


def test_vmap_leaf_of_the_prefix_may_be_none_deep_inside(require_same: Any) -> None:
    arguments = {"mapped": np.arange(3.0), "shared": [np.array([1.0, 2.0]), 5.0]}
    axes = ({"mapped": 0, "shared": None},)
    got = vmap(lambda d: d["mapped"] * d["shared"][0] + d["shared"][1], axes)(arguments)
    require_same(got, np.arange(3.0)[:, None] * [1.0, 2.0] + 5.0)


def test_vmap_out_axes_are_prefixes_of_the_result() -> None:
    def function(x: Any) -> Any:
        return {"moved": (x, [x[0]]), "shared": np.ones(2), "front": x}

    got = vmap(function, out_axes={"moved": -1, "shared": None, "front": 0})(A)
    assert tree.map(np.shape, got) == {"moved": ((3, 4, 2), [(4, 2)]), "shared": (2,), "front": (2, 3, 4)}
    got = vmap(function, out_axes={"moved": (1, [0]), "shared": 1, "front": 2})(A)
    assert tree.map(np.shape, got) == {"moved": ((3, 2, 4), [(2, 4)]), "shared": (2, 2), "front": (3, 4, 2)}


def test_vmap_result_that_all_calls_share(require_same: Any) -> None:
    function = lambda x, y: (y * 2.0, x)  # noqa: E731
    require_same(vmap(function, (0, None))(np.arange(3.0), 1.5), (np.full(3, 3.0), np.arange(3.0)))
    require_same(vmap(function, (0, None), (None, 0))(np.arange(3.0), 1.5), (3.0, np.arange(3.0)))
    constant = np.array([1.0, 2.0])
    require_same(vmap(lambda x: constant, out_axes=1)(np.arange(3.0)), np.repeat(constant[:, None], 3, 1))


def test_vmap_maps_keyword_arguments_over_the_first_axis(require_same: Any) -> None:
    got = vmap(lambda x, *, d: x * d["k"], in_axes=1)(np.ones((2, 3)), d={"k": np.arange(3.0)})
    require_same(got, np.arange(3.0)[:, None] * np.ones(2))


def test_vmap_axis_size_is_needed_only_where_nothing_is_mapped(require_same: Any) -> None:
    require_same(vmap(lambda x: x * 2.0, in_axes=None, axis_size=3)(1.5), np.full(3, 3.0))
    require_same(vmap(lambda: np.ones(2), axis_size=3)(), np.ones((3, 2)))
    require_same(vmap(lambda x: x, axis_size=3)(np.arange(3.0)), np.arange(3.0))
    require_same(vmap(lambda x: x, axis_size=np.int64(3))(np.arange(3.0)), np.arange(3.0))
    require_same(vmap(lambda: 1.0, axis_size=0)(), np.ones(0))


def test_vmap_batch_of_none_and_of_one(require_same: Any) -> None:
    function = lambda x: (ops.sin(x), ops.reduce_sum(x, (0,)))  # noqa: E731
    require_same(vmap(function)(np.ones((0, 3))), (np.ones((0, 3)), np.ones(0)))
    require_same(vmap(function)(np.ones((1, 3))), (np.sin(np.ones((1, 3))), np.full(1, 3.0)))
    require_same(vmap(function)(np.ones((4, 0))), (np.ones((4, 0)), np.zeros(4)))


# Axes that do not fit.


def test_vmap_unequal_sizes_error_lists_arguments() -> None:
    """The error lists the size and the key path of every mapped argument."""
    with pytest.raises(ArgumentValueError) as caught:
        vmap(lambda d, y, z, *, k: y, (0, 1, None))(
            {"a": np.ones(3), "b": [np.ones((2, 2), np.float32)]}, np.ones((7, 4)), np.ones(9), k=np.ones(5)
        )
    message = str(caught.value)
    assert message.startswith(f"{__file__}:")
    assert message.partition(": vmap of ")[2].splitlines() == [
        "<lambda>: expected one size of the mapped dimensions, got",
        "  argument 0['a'] of type f64[3]: size 3 of dimension 0",
        "  argument 0['b'][0] of type f32[2,2]: size 2 of dimension 0",
        "  argument 1 of type f64[7,4]: size 4 of dimension 1",
        "  argument 'k' of type f64[5]: size 5 of dimension 0",
        "make them equal, or give None in in_axes for what is shared",
    ]


def test_vmap_axis_size_that_differs_is_listed() -> None:
    with pytest.raises(ArgumentValueError, match=r"argument 0 of type f64\[3\]: size 3 of dimension 0\n  axis_size: 2"):
        vmap(lambda x: x, axis_size=2)(np.ones(3))


@pytest.mark.parametrize(
    ("in_axes", "args", "words"),
    [
        (2, (np.ones((2, 3)),), "expected an array with a dimension 2 at argument 0, got f64[2,3]; change in_axes"),
        (-3, (np.ones((2, 3)),), "expected an array with a dimension -3 at argument 0, got f64[2,3]"),
        (0, (np.ones(2), 1.0), "expected an array with a dimension 0 at argument 1, got ~f64[]"),
        (0, ([np.ones(2), [1.0]],), "at argument 0[1][0], got ~f64[]; change in_axes, or give None there to share it"),
        ((0,), (np.ones(2), np.ones(2)), "expected in_axes of one entry for each of 2 positional arguments, got 1"),
        ((0, 0), (np.ones(2),), "expected in_axes of one entry for each of 1 positional arguments, got 2"),
        (({"b": 0},), ({"a": np.ones(2)},), "expected in_axes that is a prefix of the tree of the arguments"),
        ((Point(0, 0),), ((np.ones(2), np.ones(2)),), "expected in_axes that is a prefix of the tree"),
        (({"a": 0, "b": 0},), ({"a": np.ones(2)},), "'b'"),
        (None, (1.0,), "expected at least one mapped argument, got in_axes of None only; give axis_size"),
        ((), (), "expected at least one mapped argument"),
    ],
)
def test_vmap_in_axes_that_do_not_fit_error(in_axes: Any, args: Any, words: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        vmap(lambda *args: 1.0, in_axes)(*args)
    message = str(caught.value)
    assert "vmap of <lambda>: " in message
    assert words in message
    assert message.startswith(f"{__file__}:")


@pytest.mark.parametrize(
    ("out_axes", "words"),
    [
        (None, "expected result['a'] to be the same for all calls because its out_axes is None"),
        ({"a": None, "b": 0}, "expected result['a'] to be the same for all calls"),
        (2, "expected out_axes between -2 and 1 for result['a'] with 2 dimensions, got 2"),
        (-3, "expected out_axes between -2 and 1 for result['a'] with 2 dimensions, got -3"),
        ({"a": 0, "b": 1}, "expected out_axes between -1 and 0 for result['b'] with 1 dimensions, got 1"),
        ({"c": 0}, "prefix of the tree of the result, PyTreeDef({'a': *, 'b': *}), got {'c': 0}"),
        ((0, 0), "expected out_axes that is a prefix of the tree of the result"),
    ],
)
def test_vmap_out_axes_that_do_not_fit_error(out_axes: Any, words: str) -> None:
    with pytest.raises(ArgumentValueError) as caught:
        vmap(lambda x: {"a": x, "b": 1.0}, out_axes=out_axes)(np.ones((2, 3)))
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:")


@pytest.mark.parametrize("axes", ["a", 0.0, (0, "a"), {"x": 1.5}, [object()]])
def test_vmap_axes_are_integers_or_none(axes: Any) -> None:
    for what in ("in_axes", "out_axes"):
        with pytest.raises(ArgumentTypeError, match=f"vmap: expected {what} of integers and None, got"):
            vmap(lambda x: x, **{what: axes})


@pytest.mark.parametrize("size", [2.0, -1, "a", (2,)])
def test_vmap_axis_size_is_a_count(size: Any) -> None:
    with pytest.raises(ArgumentValueError, match="vmap: expected an axis_size that counts elements, got"):
        vmap(lambda x: x, axis_size=size)


def test_vmap_refuses_non_arrays() -> None:
    with pytest.raises(
        NonArrayError, match=r"vmap of <lambda>: expected arrays or numbers as arguments, .* at argument 1\[0\]"
    ):
        vmap(lambda x, y: x)(np.ones(2), ["a"])
    with pytest.raises(NonArrayError, match=r"expected a function that returns arrays .* at result\['k'\]"):
        vmap(lambda x: {"k": "a"})(np.ones(2))
    with pytest.raises(ArgumentTypeError, match=re.escape("write vmap(f)(x), not vmap(f(x))")):
        vmap(np.ones(2))  # type: ignore[arg-type]


# Values of the elements.


def test_vmap_value_of_an_element_is_not_known() -> None:
    for use, error in (
        (lambda x: x if x > 0 else -x, TracerBoolConversionError),
        (lambda x: [1.0, 2.0][ops.convert_element_type(x, "int32")], TracerIntegerConversionError),
        (lambda x: int(x), TracerIntegerConversionError),
        (lambda x: np.asarray(x), TracerArrayConversionError),
    ):
        with pytest.raises(error, match=r"of vmap made at") as caught:
            vmap(use)(np.ones(2))
        assert str(caught.value).startswith(f"{__file__}:")


def test_vmap_value_of_what_is_shared_is_known() -> None:
    assert vmap(lambda x, n: x * n if n > 1 else x, (0, None))(np.ones(2), 3.0).tolist() == [3.0, 3.0]
    assert vmap(lambda x, n: sum(x for _ in range(n)), (0, None))(np.ones(2), 3).tolist() == [3.0, 3.0]


def test_a_tracer_kept_after_vmap_is_refused() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x * 2.0) or x)(np.ones(2))
    for use in (
        lambda: kept[0] + 1.0,
        lambda: vmap(lambda y: y * kept[0])(np.ones(2)),
        lambda: vmap(lambda y: kept[0])(np.ones(2)),
    ):
        with pytest.raises(UnexpectedTracerError, match=r"of vmap made at .*, which has ended"):
            use()


def test_vmap_user_exception_is_raised_unchanged() -> None:
    raised = KeyError("mine")

    def fail(x: Any) -> Any:
        raise raised

    with pytest.raises(KeyError) as caught:
        vmap(vmap(fail))(np.ones((2, 2)))
    assert caught.value is raised
    assert vmap(lambda x: x)(np.ones(2)).tolist() == [1.0, 1.0]


# Types: an element of a batch is as strong as its array, and what is shared as weak as it was.


def test_vmap_promotion_is_that_of_one_example(require_same: Any) -> None:
    x = np.ones(3, np.float32)
    for function in (
        lambda x: x * 2.0,
        lambda x: 2 + x,
        lambda x: x * np.float64(2),
        lambda x: x > 0,
        lambda x: x // 2,
    ):
        got = vmap(function)(x)
        assert got.dtype == np.asarray(function(np.float32(1))).dtype
    require_same(vmap(lambda x, y: x * y, (0, None))(x, 2.0), np.full(3, 2.0, np.float32))
    require_same(vmap(lambda x, y: x * y, (0, None))(np.arange(3, dtype=np.int8), 2), np.array([0, 2, 4], np.int8))


def test_vmap_shared_python_number_stays_weak() -> None:
    seen = []
    vmap(lambda x, y: seen.append((get_aval(x).weak_type, get_aval(y).weak_type)) or x, (0, None))(np.ones(2), 2.0)
    assert seen == [(False, True)]
    shared = vmap(lambda x, y: y * 3, (0, None), None)(np.ones(2), 2)
    assert type(shared) is int


# Nesting, and the other transformations.


def test_nested_vmaps_commute(loop: Callable[..., Any], require_same: Any) -> None:
    function = lambda x, y: ops.sin(x) * y + ops.reduce_sum(y, (0,))  # noqa: E731
    x, y = np.arange(3.0), np.arange(8.0).reshape(2, 4)
    expected = loop(loop(function, (0, None)), (None, 0))(x, y)
    require_same(vmap(vmap(function, (0, None)), (None, 0))(x, y), expected)
    require_same(vmap(vmap(function, (None, 0)), (0, None), 1)(x, y), expected)
    require_same(vmap(vmap(function, (None, 0), 0), (0, None), 0)(x, y), np.moveaxis(expected, 0, 1))


def test_an_inner_vmap_closes_over_the_outer_element(require_same: Any) -> None:
    x, y = np.arange(3.0), np.arange(2.0)
    require_same(vmap(lambda a: vmap(lambda b: a * b + a)(y))(x), np.outer(x, y) + x[:, None])
    require_same(vmap(lambda a: vmap(lambda b: a * b, out_axes=0)(np.ones(2) * a))(x), np.outer(x * x, np.ones(2)))
    require_same(vmap(lambda a: vmap(lambda b: a, out_axes=None)(y))(x), x)


def test_vmap_three_levels(require_same: Any) -> None:
    a, b, c = np.arange(2.0), np.arange(3.0), np.arange(4.0)
    f = lambda x, y, z: x * 100 + y * 10 + z  # noqa: E731
    got = vmap(vmap(vmap(f, (None, None, 0)), (None, 0, None)), (0, None, None))(a, b, c)
    require_same(got, a[:, None, None] * 100 + b[:, None] * 10 + c)


def test_vmap_and_jit_commute_and_jit_does_not_trace_again(require_same: Any) -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        return ops.sin(x) * 2.0

    jitted = jit(function)
    x = np.arange(3.0)
    jitted(x[0])
    require_same(vmap(jitted)(x), np.sin(x) * 2.0)
    require_same(vmap(vmap(jitted))(x[None]), np.sin(x[None]) * 2.0)
    assert len(calls) == 1
    require_same(jit(vmap(function))(x), np.sin(x) * 2.0)


def test_a_vmap_inside_jit_is_traced_at_types_alone() -> None:
    closed = make_jaxpr(vmap(lambda x, y: ops.sin(x) * y, (1, None), 1))(
        ShapeDtypeStruct((2, 3), "float32"), ShapeDtypeStruct((2,), "float32")
    )
    check_jaxpr(closed)
    assert [str(aval) for aval in closed.out_avals] == ["f32[2,3]"]


def test_vmap_name_of_the_function_is_kept() -> None:
    def named(x: Any) -> Any:
        """Says something."""

    assert vmap(named).__name__ == "named"
    assert vmap(named).__doc__ == "Says something."
    assert vmap(partial(lambda x, y: x * y, y=2.0))(np.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "axes", [{"in_axes": True}, {"in_axes": (False,)}, {"out_axes": True}, {"in_axes": [{"a": True}]}]
)
def test_vmap_of_a_boolean_axis(axes: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match=r"of integers and None, got (True|False)"):
        vmap(lambda x: x, **axes)
    with pytest.raises(ArgumentValueError, match="axis_size that counts elements, got True"):
        vmap(lambda x: x, axis_size=True)


def test_vmap_passes_shared_arguments_of_any_type_through() -> None:
    x = np.arange(3.0)
    seen: list[Any] = []

    def f(setting: Any, x: Any) -> Any:
        seen.append(setting)
        return setting["function"](x) * setting["scale"]

    setting = {"function": ops.neg, "scale": 2.0, "name": "text"}
    np.testing.assert_array_equal(vmap(f, in_axes=(None, 0))(setting, x), -2.0 * x)
    assert seen == [setting]
    nested = vmap(lambda s, x: vmap(f, in_axes=(None, 0))(s, x), in_axes=(None, 0))
    np.testing.assert_array_equal(nested(setting, np.ones((2, 3))), np.full((2, 3), -2.0))
    mixed = vmap(f, in_axes=({"function": None, "scale": 0, "name": None}, 0))
    np.testing.assert_array_equal(mixed({**setting, "scale": x}, x), -x * x)
    with pytest.raises(NonArrayError, match=r"got 'text' of type str at argument 0\['name'\]"):
        vmap(f, in_axes=({"function": None, "scale": 0, "name": 0}, 0))({**setting, "scale": x}, x)
    with pytest.raises(NonArrayError, match="at argument 'setting'"):
        vmap(f, in_axes=0)(setting=setting, x=x)
