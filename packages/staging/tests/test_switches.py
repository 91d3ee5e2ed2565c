"""Switches take True and False: every other value is refused, and changes nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError
from lawful.ops import log, sin
from lawful.staging import (
    blame_nan,
    debug_nans,
    disable_jit,
    is_jit_disabled,
    jit,
    make_jaxpr,
    set_debug_nans,
    set_explain_cache_misses,
    set_jit_disabled,
)

SWITCHES: dict[str, Callable[[Any], Any]] = {
    "set_debug_nans nans": set_debug_nans,
    "set_debug_nans infs": lambda value: set_debug_nans(True, value),
    "debug_nans infs": lambda value: debug_nans(infs=value),
    "set_explain_cache_misses enable": set_explain_cache_misses,
    "set_jit_disabled disabled": set_jit_disabled,
    "disable_jit disable": disable_jit,
    "blame_nan discarded": lambda value: blame_nan(sin, discarded=value),
    "make_jaxpr return_shape": lambda value: make_jaxpr(sin, return_shape=value),
    "jit inline": lambda value: jit(sin, inline=value),
    "jit keep_unused": lambda value: jit(sin, keep_unused=value),
}


@pytest.mark.parametrize("value", ["no", 1, 0, None, np.ones(2)], ids=str)
@pytest.mark.parametrize("switch", SWITCHES)
def test_switches_refuse_other_values(switch: str, value: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name, argument = switch.split()
    with pytest.raises(ArgumentTypeError, match=f"{name}: expected True or False as {argument}, got .*; pass one of"):
        SWITCHES[switch](value)
    assert not is_jit_disabled()
    with np.errstate(invalid="ignore"):
        assert np.isnan(log(-1.0))
    assert jit(lambda x: sin(x))(0.0) == 0.0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("switch", SWITCHES)
def test_switches_take_booleans_of_numpy(switch: str) -> None:
    SWITCHES[switch](np.False_)
    set_debug_nans(False)


def test_disable_jit_decorates_with_parentheses() -> None:
    with pytest.raises(ArgumentTypeError, match=r"write disable_jit\(\), with parentheses"):
        disable_jit(sin)  # type: ignore[arg-type]

    @disable_jit()
    def disabled() -> bool:
        return is_jit_disabled()

    assert disabled()
