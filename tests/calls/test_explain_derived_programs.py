"""`explain_cache_misses` says why a program that a transformation derived of a trace is compiled again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.debug import CacheMiss, explain_cache_misses
from lawful.staging import clear_caches, jit

Call = Callable[[Any, Any], Any]


def compilations(misses: list[CacheMiss]) -> dict[str, list[tuple[str, ...]]]:
    """Returns the reasons of the compilations of each program."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for miss in misses:
        if miss.event == "compiled":
            found.setdefault(miss.name, []).append(miss.reasons)
    return found


def squares() -> Any:
    """Returns a new function of ``jit``, of which nothing is cached."""

    def f(x: Any) -> Any:
        return lnp.sum(lnp.sin(x) ** 2)

    return jit(f, backend="numpy")


CALLS: dict[str, Call] = {
    "vmap": lambda g, x: vmap(g)(lnp.stack([x, x])),
    "grad": lambda g, x: grad(g)(x),
    "jvp": lambda g, x: jvp(g, (x,), (x,)),
    "grad of vmap": lambda g, x: grad(lambda x: lnp.sum(vmap(g)(lnp.stack([x, x]))))(x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_explain_cache_misses_derived_shape(call: Call) -> None:
    g = squares()
    clear_caches()
    with explain_cache_misses(show=False) as misses:
        call(g, np.ones(4))
        first = compilations(misses)
        call(g, np.ones(5))
    assert first
    assert all(reasons == [()] for reasons in first.values())
    for name, reasons in compilations(misses).items():
        again = [reason for each in reasons[1:] for reason in each]
        assert len(reasons) == 2 * len(first[name])
        assert again
        assert all("another shape" in reason for reason in again)


def test_explain_cache_misses_mapped_axis() -> None:
    g = squares()
    clear_caches()
    with explain_cache_misses(show=False) as misses:
        for n in (4, 5):
            vmap(g)(np.ones((n, 3)))
    assert compilations(misses)["vmap_f"] == [
        (),
        ("input 0 of the program is f64[5,3], was f64[4,3]: another shape",),
    ]
    assert "vmap_f compiled again at " in str(misses[-1])


def test_explain_cache_misses_other_in_axes() -> None:
    g = squares()
    clear_caches()
    with explain_cache_misses(show=False) as misses:
        for axis in (0, 1):
            vmap(g, in_axes=axis)(np.ones((3, 3)))
    [_, (reason,)] = compilations(misses)["vmap_f"]
    assert reason.startswith("the program differs, for inputs of the same types")


def test_explain_cache_misses_other_tangents() -> None:
    g = jit(lambda x, y: x * y, backend="numpy")
    clear_caches()
    with explain_cache_misses(show=False) as misses:
        jvp(lambda x: g(x, 2.0), (1.0,), (1.0,))
        jvp(g, (1.0, 2.0), (1.0, 1.0))
    [_, (reason,)] = compilations(misses)["jvp_<lambda>"]
    assert reason == "the program has 4 inputs, had 3: other arguments are mapped or differentiated"


def test_explain_cache_misses_derived_after_clear() -> None:
    g = squares()
    clear_caches()
    with explain_cache_misses(show=False) as misses:
        vmap(g)(np.ones((2, 3)))
        clear_caches()
        vmap(g)(np.ones((2, 3)))
    [_, (reason,)] = compilations(misses)["vmap_f"]
    assert "removed from the cache" in reason


def test_explain_cache_misses_two_functions_of_one_name() -> None:
    """Another function is not why the first is compiled again."""
    first, second = (
        jit(lambda x: 2.0 * x, backend="numpy"),
        jit(lambda x: 3.0 * x, backend="numpy"),
    )
    clear_caches()
    with explain_cache_misses(show=False) as misses:
        vmap(first)(np.ones(3))
        vmap(second)(np.ones(4))
    assert compilations(misses)["vmap_<lambda>"] == [(), ()]
