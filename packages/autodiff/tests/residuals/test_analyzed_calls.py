"""`cost`, `peak_memory` and `saved_residuals` of functions with static arguments, and with objects as arguments."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, cost, grad, peak_memory, saved_residuals
from lawful.core import ArgumentTypeError, NonArrayError
from lawful.staging import ShapeDtypeStruct, blame_nan, jit

X = np.ones(5)
TOOLS = pytest.mark.parametrize(
    "tool", [cost, peak_memory, lambda f: partial(saved_residuals, f)], ids=["cost", "peak_memory", "saved_residuals"]
)


def power(x: Any, n: int, activation: str = "none") -> Any:
    for _ in range(n):
        x = ops.sin(x)
    return ops.tanh(x) if activation == "tanh" else x


def total(x: Any, n: int) -> Any:
    return ops.reduce_sum(power(x, n), (0,))


def words(x: Any) -> list[str]:
    return [f"{x}"]


class Model:
    @partial(jit, static_argnums=(0, 2))
    def layers(self, x: Any, n: int) -> Any:
        return power(x, n)


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (jit(power, static_argnums=1), (X, 3), {}),
    (jit(power, static_argnums=1), (X,), {"n": 3}),
    (jit(power, static_argnames="n"), (X, 3), {}),
    (jit(power, static_argnames=("n", "activation")), (X,), {"n": 3, "activation": "tanh"}),
    (jit(power, static_argnums=(1, -1)), (X, 3, "tanh"), {}),
    (partial(jit(power, static_argnums=(1, 2)), X), (3, "tanh"), {}),
    (partial(jit(power, static_argnums=(1, 2)), n=3), (), {"x": X}),
    (checkpoint(power, static_argnums=(1,)), (X, 3), {}),
    (grad(jit(total, static_argnums=1)), (X, 3), {}),
    (jit(lambda x, n: power(x, int(n)), static_argnums=1), (X, 2.5), {}),
    (Model().layers, (X, 3), {}),
    (lambda x, activation: power(x, 3, activation), (X, "tanh"), {}),
    (lambda x, *, function: function(x), (X,), {"function": ops.sin}),
    (lambda tree: power(tree["x"], 3, tree["activation"]), ({"x": X, "activation": "tanh"},), {}),
]


@TOOLS
@pytest.mark.parametrize("call", range(len(CALLS)))
def test_static_and_other_arguments_are_given(tool: Any, call: int) -> None:
    """As if they were written into the function."""
    function, args, kwargs = CALLS[call]
    found = tool(function)(*args, **kwargs)
    if args and args[0] is X:
        written = tool(lambda x: function(x, *args[1:], **kwargs))(X)
        assert facts(found) == facts(written)


def facts(found: Any) -> Any:
    if isinstance(found, list):
        return [aval for aval, _ in found]
    return found.timeline if hasattr(found, "timeline") else found.function.operations


def test_cost_counts_by_static_arguments() -> None:
    function = jit(power, static_argnums=(1, 2))
    counts = [cost(function)(X, n, "tanh").function.operations for n in (1, 2, 3)]
    assert counts == [10, 15, 20]
    assert cost(function)(ShapeDtypeStruct((5,), "float64"), 3).function.operations == 15


def test_peak_memory_names_arguments_beside_static_ones() -> None:
    function = jit(lambda n, x, y: ops.mul(power(x, n), y), static_argnums=0)
    origins = {value.origin for value in peak_memory(function)(2, X, y=X).values}
    assert {"the argument x", "the argument y"} <= origins


@TOOLS
def test_iterators_and_objects_are_refused(tool: Any) -> None:
    def summed(xs: Any, x: Any = 1.0) -> Any:
        return ops.mul(sum(xs), x)

    with pytest.raises(NonArrayError, match=r"of summed: .* got .*generator.* at argument 0; it can be read only once"):
        tool(summed)((x for x in [1.0, 2.0]), 2.0)
    with pytest.raises(NonArrayError, match="got 'text' of type str at argument 0"):
        tool(summed)("text")
    with pytest.raises(ArgumentTypeError, match=r"of summed: argument 0\['a'\]: dtype: .* got object; convert with"):
        tool(summed)({"a": np.array([1.0, None])}, 2.0)
    with pytest.raises(NonArrayError, match=r"of words: expected a function that returns arrays .* at result\[0\]"):
        tool(words)(2.0)
    assert str(tool(jit(lambda n: ops.sin(float(n)), static_argnums=0))(2))  # no array at all


@pytest.mark.parametrize("tool", [cost, peak_memory, lambda f: partial(saved_residuals, f), blame_nan])
def test_calls_with_wrong_arguments(tool: Any) -> None:
    def product(x: Any, y: Any) -> Any:
        return ops.mul(x, y)

    with pytest.raises(
        ArgumentTypeError, match=r"of product: expected arguments for \(x.*y.*\).*: missing .* 'y'; give"
    ):
        tool(product)(1.0)
    with pytest.raises(ArgumentTypeError, match=r"of product: .*: too many positional arguments; give those that the"):
        tool(product)(1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="the user's"):
        tool(raising)(1.0)


def raising(x: Any) -> Any:
    raise TypeError("the user's")
