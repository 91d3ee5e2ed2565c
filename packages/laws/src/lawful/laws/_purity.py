"""The law of purity: results depend on nothing but arguments."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff import jvp, linearize, vjp
from lawful.laws._batching import lanes_of
from lawful.laws._directions import tangents_of
from lawful.laws._law import Claim, Claims, law
from lawful.staging import clear_caches, jit


def _copies(values: Any) -> Any:
    """Returns arrays of their own memory; Python numbers stay what they are."""
    return tree.map(lambda x: np.array(x) if hasattr(x, "dtype") else x, values)


def _spoil(values: Any) -> None:
    """Writes something else into every array that can be written into."""
    for x in tree.leaves(values):
        if isinstance(x, np.ndarray) and x.flags.writeable and x.dtype.names is None:
            x[...] = ~x if x.dtype.kind == "b" else x + np.asarray(7, x.dtype)


@law
def law_purity(function: Callable[..., Any], *args: Any, seed: int = 0, backend: str = "numpy") -> Claims:
    """Results do not depend on caches, threads, the order of calls, or later writes into arguments and results.

    Equation: T(f)(x) = T(f)(x), whatever happens before, between and after

    Args:
      function: a function of pytrees of arrays.
      args: its arguments, which are copied.
      seed: of the tangents.
      backend: that of ``jit``.

    Raises:
      LawViolation: it does not hold.
    """
    random = np.random.default_rng(seed)
    expected = _copies(function(*_copies(args)))
    v = tangents_of(random, args)
    w = tangents_of(random, expected)
    pushed, pulled = jvp(function, args, v)[1], vjp(function, *args)[1](w)

    own = _copies(args)
    out, pull = vjp(function, *own)
    first = pull(_copies(w))
    yield Claim("vjp(f, x)[1](w)", first, "the same of another copy of x", pulled)
    _spoil((own, out, first))
    yield Claim("vjp(f, x)[1](w) after writing into x and the results", pull(w), "before", pulled)

    own = _copies(args)
    out, push = linearize(function, *own)
    first = push(*_copies(v))
    _spoil((own, out, first))
    yield Claim("linearize(f, x)[1](v) after writing into x and the results", push(*v), "before", pushed)

    own, compiled = _copies(args), jit(function, backend=backend)
    out = compiled(*own)
    _spoil(own)
    yield Claim("jit(f)(x) after writing into x", out, "f(x)", expected)
    _spoil(out)
    yield Claim("jit(f)(x) after writing into an earlier result", compiled(*_copies(args)), "f(x)", expected)

    other = tree.map(lambda x: lanes_of(x, 2, 0)[1] if hasattr(x, "dtype") else x, args)
    yield Claim("jit(f) of other values", compiled(*other), "f of them", function(*other))
    yield Claim("jit(f)(x) after jit(f) of other values", compiled(*args), "f(x)", expected)

    clear_caches()
    yield Claim("jit(f)(x) with cleared caches", compiled(*args), "f(x)", expected)
    yield Claim("vjp(f, x)[1](w) with cleared caches", pull(w), "before", pulled)
    yield Claim("jit(f)(x) in another thread", _in_thread(lambda: compiled(*args)), "f(x)", expected)
    yield Claim("jvp(f, x, v) in another thread", _in_thread(lambda: jvp(function, args, v)[1]), "jvp", pushed)


def _in_thread(function: Callable[[], Any]) -> Any:
    results: list[Any] = []

    def run() -> None:
        with np.errstate(all="ignore"):
            results.append(function())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results, "the thread raised an error"
    return results[0]
