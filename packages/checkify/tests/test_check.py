"""``check`` without ``checkify``: failed checks raise, eager, transformed and compiled."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.checkify import CheckError, check, check_p, checkify, debug_check
from lawful.core import AbsentRuleError, ArgumentTypeError
from lawful.staging import jit, make_jaxpr


def checked_sin(x: Any) -> Any:
    check(x > 0.0, "expected more than {}, got {x}", np.zeros(()), x=x)
    return ops.sin(x)


FAILED = re.escape("expected more than 0.0, got -1.0 (`check` failed)")


@pytest.mark.parametrize("f", [checked_sin, grad(checked_sin), lambda x: jvp(checked_sin, (x,), (x,))[0]])
def test_failed_check_raises(f: Callable[..., Any]) -> None:
    assert f(np.float64(1.0)) > 0.0
    with pytest.raises(CheckError, match=f"^{FAILED}$"):
        f(np.float64(-1.0))


def test_failed_check_in_jit_raises(backend: str) -> None:
    for f in (checked_sin, grad(checked_sin)):
        compiled = jit(f, backend=backend)
        assert compiled(1.0) > 0.0
        with pytest.raises(ValueError, match=FAILED):
            compiled(-1.0)


def test_failed_check_in_vmap_raises_the_first(backend: str) -> None:
    xs = np.array([1.0, -1.0, -2.0])
    for f in (vmap(checked_sin), jit(vmap(checked_sin), backend=backend)):
        with pytest.raises(ValueError, match=FAILED):
            f(xs)
        assert np.allclose(f(-xs[1:]), np.sin(-xs[1:]))


def test_check_of_a_batch_of_values_only() -> None:
    """A condition without the batch dimension fails for all elements: the message has the values of the first one."""

    def f(x: Any, limit: Any) -> Any:
        check(limit > 0.0, "got {}", x)
        return x

    with pytest.raises(CheckError, match=r"^got 3\.0 "):
        vmap(f, in_axes=(0, None))(np.array([3.0, 4.0]), np.float64(-1.0))


def test_check_formats_numpy_arrays_of_pytrees() -> None:
    with pytest.raises(CheckError, match=re.escape("2.50 {'a': array([1., 2.])} 7 (`check` failed)")):
        check(False, "{:.2f} {} {n}", np.float64(2.5), {"a": np.array([1.0, 2.0])}, n=np.int32(7))


def test_check_is_an_equation_with_an_effect() -> None:
    jaxpr = make_jaxpr(lambda x: check(x, "no"))(True).jaxpr
    [eqn] = jaxpr.eqns
    assert eqn.primitive is check_p
    assert check_p in eqn.effects
    with pytest.raises(AbsentRuleError, match="nothing that a cotangent could belong to"):
        check_p.rule("transpose")


def test_debug_check_counts_under_checkify_only(backend: str) -> None:
    def f() -> None:
        debug_check(False, "only under {}", np.int32(1))

    f()
    jit(f, backend=backend)()
    assert checkify(f)()[0].get() == "only under 1 (`check` failed)"


def test_check_refuses_what_it_cannot_state() -> None:
    with pytest.raises(ArgumentTypeError, match=r"a boolean without dimensions, got .*; use lawful\.numpy\.all"):
        check(np.ones(2) > 0.0, "twice")
    with pytest.raises(ArgumentTypeError, match="a boolean without dimensions, got 1"):
        check(1, "no boolean")
    with pytest.raises(ArgumentTypeError, match=r"arrays to format, got 'x'; use lawful\.numpy\.asarray"):
        check(True, "{}", "x")
    with pytest.raises(KeyError):
        check(True, "{x}")
    with pytest.raises(IndexError):
        debug_check(True, "{}")
