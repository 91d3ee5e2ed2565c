"""Errors of `custom_jvp`: rules that are missing, arguments that are no arrays, and wrong results of rules."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, MissingRuleError, NonArrayError
from lawful.custom_rules import custom_jvp
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")
Function = Callable[..., Any]

XS = np.array([0.5, -1.0, 2.0])


def f_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (x_dot, y_dot) = primals, tangents
    return x * y, x_dot * y + x * y_dot


@custom_jvp
def f(x: Any, y: Any) -> Any:
    return x * y


f.defjvp(f_jvp)


def test_custom_jvp_missing_rule() -> None:
    g = custom_jvp(f_jvp)
    for call in (lambda: g(1.0, 2.0), lambda: grad(g)(1.0, 2.0), lambda: jit(g)(1.0, 2.0)):
        with pytest.raises(MissingRuleError, match=r"custom_jvp of f_jvp: expected a jvp rule.*f_jvp\.defjvp$"):
            call()
    with pytest.raises(ArgumentTypeError, match="custom_jvp: expected a function, got 3"):
        custom_jvp(3)  # type: ignore[arg-type]


def test_custom_jvp_argument_errors() -> None:
    with pytest.raises(NonArrayError, match=r"custom_jvp of f: .*'a' of type str at argument 1; .*nondiff_argnums"):
        grad(f)(1.0, "a")


BAD_RULES: dict[str, tuple[Function, str]] = {
    "no pair": (lambda p, t: p, r"expected a pair \(out, tangent_out\), got a tuple of 1"),
    "another tree": (
        lambda p, t: ({"v": p[0], "w": p[0]}, {"w": t[0]}),
        r"expected tangent_out of the tree .*missing 'v'",
    ),
    "another shape": (
        lambda p, t: ({"v": p[0], "w": p[0]}, {"v": t[0][0], "w": t[0]}),
        r"expected a tangent of type f64\[3\] at tangent_out\['v'\], got f64\[\]",
    ),
    "another dtype": (
        lambda p, t: ({"v": p[0], "w": p[0]}, {"v": ops.convert_element_type(t[0], "float32"), "w": t[0]}),
        r"expected a tangent of type f64\[3\] at tangent_out\['v'\], got f32\[3\]",
    ),
    "no array": (
        lambda p, t: ({"v": p[0], "w": p[0]}, {"v": "a", "w": t[0]}),
        r"at tangent_out\['v'\], got 'a' of type str",
    ),
    "no float0": (
        lambda p, t: ({"v": p[0], "w": np.arange(3)}, {"v": t[0], "w": t[0]}),
        r"expected a tangent of type float0\[3\] at tangent_out\['w'\], got float64; .*numpy.zeros\(\(3,\), lawful",
    ),
}


@pytest.mark.parametrize("name", BAD_RULES)
def test_custom_jvp_rule_result_errors(name: str) -> None:
    rule, message = BAD_RULES[name]

    @custom_jvp
    def g(x: Any) -> Any:
        return {"v": x, "w": x if name != "no float0" else np.arange(3)}

    g.defjvp(rule)
    for call in (g, jit(g), lambda x: vmap(lambda _: g(x))(XS)):
        with pytest.raises(ArgumentTypeError, match=rf"custom_jvp of g, the jvp rule <lambda>: .*{message}"):
            jvp(call, (XS,), (XS,))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ((lambda x: {"u": x}), r"expected a result of the tree .*missing 'w'; extra 'u'"),
        (
            (lambda x: {"w": x[0]}),
            r"expected f64\[3\] at result\['w'\], which g has, from the jvp rule .*, got f64\[\]",
        ),
    ],
)
def test_custom_jvp_rule_result_differs_from_function(out: Function, message: str) -> None:
    @custom_jvp
    def g(x: Any) -> Any:
        return {"w": x}

    g.defjvp(lambda primals, tangents: (out(*primals), out(*tangents)))
    with pytest.raises(ArgumentTypeError, match=message):
        jvp(jit(g), (XS,), (XS,))
