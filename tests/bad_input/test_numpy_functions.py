"""Calls that NumPy refuses raise an error of the same class in lawful: eagerly, traced and compiled."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.core import LawfulError, get_aval, is_inexact
from lawful.staging import jit, make_jaxpr

from ..numpy_code.calls.numpy_functions import FOLDER, mistakes, operators  # noqa: TID252  a test has no absolute name

FILE = str(FOLDER / "mistakes.py")
Call = Callable[[Any], Any]

TRACED: dict[str, Callable[[Call, Any], Any]] = {
    "make_jaxpr": lambda f, x: make_jaxpr(f)(x),
    "jit by numpy": lambda f, x: jit(f, backend="numpy")(x),
    "jit by xla": lambda f, x: jit(f, backend="xla")(x),
    "vmap": lambda f, x: vmap(f)(np.stack([x, x])),
    "vmap of jit": lambda f, x: vmap(jit(f))(np.stack([x, x])),
}
DERIVED: dict[str, Callable[[Call, Any], Any]] = {
    "jvp": lambda f, x: jvp(f, (x,), (np.ones_like(x),)),
    "vjp": lambda f, x: vjp(f, x),
    "jvp of jit": lambda f, x: jvp(jit(f), (x,), (np.ones_like(x),)),
}


def error_of(run: Callable[[], Any]) -> LawfulError:
    with pytest.raises(LawfulError) as error:
        run()
    assert str(error.value).startswith(FILE)
    return error.value


# The texts of these errors quote a list, in which a traced array is printed differently.
QUOTES = {"ragged list of arrays", "depths of blocks"}


def said(error: LawfulError, name: str) -> str:
    """Returns an error's text, in which Python and NumPy numbers look alike."""
    return error.message.partition(":")[0] if name in QUOTES else error.message.replace("~", "")


@pytest.mark.parametrize("name", mistakes)
def test_numpy_functions_same_error_everywhere(usable: Callable[[], None], name: str):
    call, x = mistakes[name]

    def function(x: Any) -> Any:
        return call(lnp, x)

    eagerly = error_of(lambda: function(x))
    runs = TRACED | DERIVED if is_inexact(get_aval(x).dtype) else TRACED
    for transformation, run in runs.items():
        traced = error_of(lambda run=run: run(function, x))
        assert type(traced) is type(eagerly), transformation
        assert said(traced, name) == said(eagerly, name), transformation
    usable()


@pytest.mark.parametrize("name", operators)
def test_numpy_functions_operators_of_what_is_traced(usable: Callable[[], None], name: str):
    call, x = operators[name]
    with pytest.raises(Exception) as numpys:  # noqa: PT011 its class is what is compared
        call(np, x)
    built_in = next(cls for cls in (TypeError, IndexError, ValueError) if isinstance(numpys.value, cls))
    runs = TRACED | DERIVED if is_inexact(get_aval(x).dtype) else TRACED
    messages = set()
    for run in runs.values():
        traced = error_of(lambda run=run: run(lambda x: call(np, x), x))
        assert isinstance(traced, built_in)
        messages.add(traced.message)
    assert len(messages) == 1
    usable()


def test_numpy_functions_table_is_numpy_s():
    assert len(mistakes) > 250
    assert Path(FILE).is_file()


def test_numpy_functions_shape_of_more_bytes_than_xla_counts():
    def summed() -> Any:
        return lnp.sum(lnp.broadcast_to(1.0, (2**62, 2)))

    for make in (lambda: lnp.zeros(2**62), lambda: lnp.arange(2**62), summed):
        with pytest.raises(LawfulError, match=r"expected an array of less than 2\*\*63 bytes"):
            jit(make, backend="xla")()
