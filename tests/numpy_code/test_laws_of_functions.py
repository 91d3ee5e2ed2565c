"""Every function of `lawful.numpy` obeys the laws: its derivatives, batching and compilation agree with each other.

One call of each is held against them; in the profile ``thorough`` of Hypothesis `lawful.laws.check` is
asked, which varies the arguments too. The laws of several devices take four fifths of the time: each is asked of a
quarter of the functions, and about two of each function; tests/laws asks all of every primitive.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import lawful.numpy as lnp
from lawful.core import get_aval, is_inexact
from lawful.laws import Case, Inapplicable, check, laws, quick
from lawful.laws.systems import lawful

from .calls.numpy_functions import Case as Call
from .calls.numpy_functions import calls_by_function, shared

CALLS = calls_by_function(0)
VARIED = settings.default.max_examples > 50
# The groups of laws about programs, for which the called function does not matter.
OTHERS = ("control flow", "loops", "cost", "errors", "leaks", "passes", "purity")
LAWS = [law for law in laws.values() if law.subject == "function" and law.group not in OTHERS]


def is_asked(number: int, name: str) -> bool:
    """Whether a function is held to a law: to each law of several devices a quarter of the functions are."""
    of_devices = LAWS[number].group == "sharding" or LAWS[number].name == "collectives_transpose"
    return not of_devices or (number + shared.index(name)) % 4 == 0


# Laws that do not hold for a function, with the reason; docs/numpy.md lists those about special values.
EXCEPTIONS: dict[str, dict[str, str]] = {
    **{
        name: {"special_values": "NumPy raises an error for NaN, infinite or singular matrices"}
        for name in (
            *("linalg.inv", "linalg.solve", "linalg.cholesky", "linalg.lstsq", "linalg.tensorsolve", "linalg.norm"),
            *("linalg.tensorinv", "linalg.matrix_norm", "linalg.matrix_power", "linalg.cond", "polyfit"),
            *("linalg.svd", "linalg.svdvals", "linalg.pinv", "linalg.matrix_rank", "linalg.qr", "linalg.eigh"),
            *("linalg.eigvalsh", "linalg.eigvals", "roots", "poly", "matrix_transpose"),
        )
    },
    **{
        name: {"special_values": "a matrix with an infinite element gives NaN throughout"}
        for name in ("linalg.det", "linalg.slogdet")
    },
    **{name: {"special_values": "a known position outside is an error"} for name in ("unravel_index", "choose")},
    "ravel_multi_index": dict.fromkeys(
        ("special_values", "vmap_is_loop", "vmaps_commute"),
        "a known position outside is an error, and others are drawn",
    ),
    "geomspace": {"special_values": "a known end that is zero is an error"},
    "digitize": {"special_values": "bins that are known have to increase or decrease"},
    **{
        name: {"jvp_finite_differences": "it has a kink where all elements are equal, as a single one is"}
        for name in ("std", "nanstd")
    },
    "average": {"special_values": "known weights that add up to zero are an error"},
    "linalg.eig": dict.fromkeys(laws, "eigenvectors have no derivative: their length is not determined"),
}


def representative(name: str) -> Call:
    """Returns the call of a function to be held against the laws: of floats, and smooth, if there is one."""

    def rank(entry: Call) -> tuple[bool, ...]:
        floats = [x for x in entry.args if get_aval(x).dtype == np.float64]
        return not entry.smooth, not floats, not all(np.all(np.isfinite(x)) for x in entry.args), entry.creates

    return min(CALLS[name].values(), key=rank)


def function_and_args(entry: Call) -> tuple[Callable[..., Any], list[Any]]:
    """Returns a call as a function of those of its arguments that have derivatives; of all, if none has."""
    free = [i for i, x in enumerate(entry.args) if is_inexact(get_aval(x).dtype)] or list(range(len(entry.args)))

    def function(*args: Any) -> Any:
        full = list(entry.args)
        for i, x in zip(free, args, strict=True):
            full[i] = x
        return entry.call(lnp, *full)

    return function, [entry.args[i] for i in free]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", shared)
def test_numpy_functions_every_law(name: str) -> None:
    function, args = function_and_args(representative(name))
    left_out = EXCEPTIONS.get(name, {})
    if VARIED:
        chosen = [law.name for law in LAWS if law.name not in left_out]
        check(function, *args, effort=quick, laws=chosen, raise_on_failure=True)
        return
    case = Case.of(function, *args)
    for number, law in enumerate(LAWS):
        if law.name not in left_out and is_asked(number, name):
            try:
                law(lawful, case, effort=quick)
            except Inapplicable:
                continue
