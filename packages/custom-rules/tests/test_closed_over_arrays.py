"""A rule may close over a NumPy array: to write into it afterwards does not change a derivative that was taken."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp, linearize, vjp
from lawful.core import Primitive, plain
from lawful.custom_rules import custom_jvp, custom_rule, custom_vjp

Function = Callable[[Any], Any]


def with_jvp(array: Any) -> Function:
    f = custom_jvp(lambda x: ops.mul(array, x))
    f.defjvp(lambda primals, tangents: (ops.mul(array, primals[0]), ops.mul(array, tangents[0])))
    return f


def with_vjp(array: Any) -> Function:
    f = custom_vjp(lambda x: ops.mul(array, x))
    f.defvjp(lambda x: (ops.mul(array, x), array), lambda residual, ct: (ops.mul(residual, ct),))
    return f


def with_both(array: Any) -> Function:
    f = custom_rule(lambda x: ops.mul(array, x))
    f.def_jvp(lambda primals, tangents: jvp(lambda x: ops.mul(array, x), primals, tangents))
    f.def_vjp(lambda x: (ops.mul(array, x), array), lambda residual, ct: (ops.mul(residual, ct),))
    return f


def of_a_primitive(array: Any) -> Function:
    times_p = Primitive("times_array")
    times_p.def_impl(lambda x: array * x)
    times_p.def_abstract_eval(lambda aval: aval)
    times_p.def_jvp(lambda primals, tangents: (times_p.bind(*primals), ops.mul(array, tangents[0])))
    return times_p.bind


RULES = {f.__name__: f for f in (with_jvp, with_vjp, with_both, of_a_primitive)}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [2, 10_000])
def test_a_closed_over_array_of_a_rule_is_copied(rule: str, size: int) -> None:
    array = np.full(size, 2.0)
    x = y = np.ones(size)
    pullback, derivative = vjp(RULES[rule](array), x)[1], linearize(RULES[rule](array), x)[1]
    with plain():
        plainly = vjp(RULES[rule](array), x)[1]
    array[...] = 7.0
    for found in (pullback(y)[0], derivative(y), plainly(y)[0]):
        np.testing.assert_array_equal(found, np.full(size, 2.0))
