"""The law ``jit(f) = f`` in value, dtype, shape and weakness, for every function and every dtype, on both backends.

Where one refuses, both do, with the same class of error. The exceptions are those of docs/numpy.md. The default run
compiles a few calls of each function by XLA, with other dtypes for each; `HYPOTHESIS_PROFILE=thorough` compiles all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import settings

import lawful.numpy as lnp
from lawful import ops, random, special
from lawful.core import as_dtype, get_aval
from lawful.numpy._ufunc import Ufunc
from lawful.staging import jit

from ._calls import calls_by_function, function_of, shared
from ._dtypes import DtypeCall, difference, disagreements, in_every_dtype
from .test_every_function import OF_VALUES, some

THOROUGH = settings.default.max_examples > 1000
#: So many calls are one program: one of many dtypes of a long function takes long to compile.
COMPILED = 6 if THOROUGH else 1

CALLS = calls_by_function(0)
#: What its calls do between functions they do by operators of NumPy's arrays, which promote narrow floats otherwise.
BY_OPERATORS = {"finfo", "indices", "from_dlpack"}
#: An end that is zero is refused where it is known.
OF_KNOWN_VALUES = {"geomspace bool"}


def _calls_of(name: str) -> list[DtypeCall]:
    entries = some(list(CALLS[name].values()), 8 if THOROUGH else 1)
    calls = [
        call
        for i, entry in enumerate(entries)
        for call in in_every_dtype(
            f"{name} {i}",
            lambda *args, entry=entry: entry.call(lnp, *args),
            entry.args,
            of_numbers=isinstance(function_of(lnp, name), Ufunc),
        )
    ]
    narrow = name in BY_OPERATORS
    return [call for call in calls if not (narrow and any(_is_narrow(x) for x in call.args)) and not _is_known(call)]


def _is_narrow(x: Any) -> bool:
    return bool(get_aval(x).dtype.kind == "V" or "float8" in get_aval(x).dtype.name)


def _is_known(call: DtypeCall) -> bool:
    function, _, dtypes = call.name.split(" ", 2)
    return f"{function} {dtypes}" in OF_KNOWN_VALUES


def _check(calls: list[DtypeCall], number: int) -> None:
    found = disagreements(calls, ["numpy"])
    if not THOROUGH:
        start = COMPILED * number % max(len(calls), 1)
        calls = (calls[start:] + calls[:start])[:COMPILED]
    for start in range(0, len(calls), COMPILED):
        found += disagreements(calls[start : start + COMPILED], ["xla"])
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in shared if name not in OF_VALUES])
def test_jit_of_numpy_function_every_dtype(name: str):
    _check(_calls_of(name), shared.index(name))


X, Y, Z = np.array([0.25, 0.5, 0.75]), np.array([0.3, 1.0, 1.6]), np.array([0.1, 0.4, 0.9])
ELEMENTWISE = {name: op for name in ops.__all__ if isinstance(op := getattr(ops, name), ops.Elementwise)}
SPECIAL: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{
        name: (getattr(special, name), (X,))
        for name in (
            *("digamma", "entr", "erf", "erfc", "erfinv", "expit", "gamma", "gammaln", "gammasgn", "i0", "i0e", "i1"),
            *("i1e", "log_ndtr", "log_softmax", "logit", "logsumexp", "ndtr", "ndtri", "softmax"),
        )
    },
    **{
        name: (getattr(special, name), (X + 1, Y))
        for name in ("beta", "betaln", "gammainc", "gammaincc", "kl_div", "rel_entr", "xlog1py", "xlogy", "zeta")
    },
    "betainc": (special.betainc, (X, Y, Z)),
    "multigammaln": (lambda x: special.multigammaln(x, 2), (Y + 2,)),
    "polygamma": (lambda x: special.polygamma(2, x), (Y,)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_jit_of_elementwise_op_every_dtype(name: str):
    op = ELEMENTWISE[name]
    args = (X + 1, X[::-1].copy(), Z)[: op.arity] if name == "acosh" else (X, Y, Z)[: op.arity]
    _check(list(in_every_dtype(name, op, args, of_numbers=True)), list(ELEMENTWISE).index(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPECIAL)
def test_jit_of_special_function_every_dtype(name: str):
    function, args = SPECIAL[name]
    _check(list(in_every_dtype(name, function, args, of_numbers=True)), list(SPECIAL).index(name))


RANDOM: dict[str, Callable[..., Any]] = {
    name: lambda key, dtype, name=name: getattr(random, name)(key, (3,), dtype=dtype)
    for name in ("uniform", "normal", "exponential", "gumbel", "bits")
} | {
    "randint": lambda key, dtype: random.randint(key, (3,), 0, 5, dtype=dtype),
    "gamma": lambda key, dtype: random.gamma(key, 2.0, (3,), dtype=dtype),
    "loggamma": lambda key, dtype: random.loggamma(key, 2.0, (3,), dtype=dtype),
    "truncated_normal": lambda key, dtype: random.truncated_normal(key, -1.0, 1.0, (3,), dtype=dtype),
    "permutation": lambda key, dtype: random.permutation(key, np.arange(4).astype(dtype)),
    "choice": lambda key, dtype: random.choice(key, np.arange(4).astype(dtype), (3,)),
    "bernoulli": lambda key, dtype: random.bernoulli(key, np.ones(2, dtype)),
    "categorical": lambda key, dtype: random.categorical(key, np.ones(2, dtype)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANDOM)
def test_jit_of_random_draw_every_dtype(name: str):
    draw, key = RANDOM[name], random.key(3)
    calls = [
        DtypeCall(f"{name} {dtype}", lambda key, dtype=dtype: draw(key, dtype), (key,))
        for dtype in map(as_dtype, ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", *FLOATS))
    ]
    _check(calls, list(RANDOM).index(name))


FLOATS = ("float16", "bfloat16", "float8_e5m2", "float32", "float64", "complex64", "complex128")


def test_operators_of_numpy_arrays_of_narrow_floats():
    """NumPy promotes by ml_dtypes there; lawful.numpy's functions give the same eagerly and compiled."""
    x, y = np.ones(2, ml_dtypes.bfloat16), np.arange(2)
    assert (x + y).dtype == np.float64
    assert lnp.add(x, y).dtype == jit(lambda x, y: x + y, backend="numpy")(x, y).dtype == ml_dtypes.bfloat16
    assert difference(jit(lnp.add, backend="xla")(x, y), lnp.add(x, y)) == ""
