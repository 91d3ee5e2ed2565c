"""`check_jvp` and `check_vjp`: right derivatives pass, wrong ones do not."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp, vjp
from lawful.core import ArgumentTypeError, ArgumentValueError, float0
from lawful.laws import LawViolation, check_jvp, check_vjp

X, Y = np.array([0.5, 1.5]), np.array([2.0, -1.0])


def product(x: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Has an integer argument and an integer result."""
    return ops.sin(x) * options["y"] * options["n"], options["n"] + 1


ARGS = X, {"y": Y, "n": 3}


def test_check_jvp_and_vjp_accept_right_derivatives() -> None:
    check_jvp(product, partial(jvp, product), ARGS)
    check_vjp(product, partial(vjp, product), ARGS)
    check_jvp(ops.exp, partial(jvp, ops.exp), (X + 1j * Y,))
    check_vjp(ops.exp, partial(vjp, ops.exp), (X + 1j * Y,))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_check_jvp_and_vjp_of_narrow_floats(dtype: str) -> None:
    x = X.astype(dtype)
    check_jvp(ops.sin, partial(jvp, ops.sin), (x,), eps=1e-1, atol=2e-2, rtol=2e-2)
    check_vjp(ops.sin, partial(vjp, ops.sin), (x,), eps=1e-1, atol=2e-2, rtol=2e-2)


def test_check_jvp_refuses_wrong_derivatives() -> None:
    def wrong_tangent(args: Any, tangents: Any) -> Any:
        return product(*args), (ops.cos(args[0]) * tangents[0], np.zeros((), float0))

    def wrong_output(args: Any, tangents: Any) -> Any:
        return ops.cos(*args), jvp(ops.sin, args, tangents)[1]

    for function, derivative, args in ((product, wrong_tangent, ARGS), (ops.sin, wrong_output, (X,))):
        with pytest.raises(LawViolation, match=r"in a test: check_jvp: JVP of .*expected the"):
            check_jvp(function, derivative, args, err_msg="in a test")


def test_check_vjp_refuses_wrong_derivatives() -> None:
    def wrong(x: Any) -> Any:
        return ops.sin(x), lambda ct: (ct * 1.001,)

    with pytest.raises(LawViolation, match=r"check_vjp: VJP of sin: expected the cotangent"):
        check_vjp(ops.sin, wrong, (X,))
    check_vjp(ops.sin, lambda x: (ops.sin(x), lambda ct: (ct * ops.cos(x) * 1.001,)), (X,), rtol=1e-2)


def test_check_jvp_and_vjp_refuse_wrong_arguments() -> None:
    for check, derivative in ((check_jvp, partial(jvp, ops.sin)), (check_vjp, partial(vjp, ops.sin))):
        with pytest.raises(ArgumentTypeError, match="tuple of arguments"):
            check(ops.sin, derivative, X)
        with pytest.raises(ArgumentValueError, match="floating"):
            check(lambda n: n + 1, derivative, (3,))
