"""Calls of functions with arguments of every dtype, and the comparison of ``jit(f)`` with ``f``."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from lawful import tree
from lawful.core import ConcretizationTypeError, ShapedArray, get_aval, is_float, is_inexact, supported_dtypes, to_numpy
from lawful.staging import jit, make_jaxpr

DTYPES = tuple(supported_dtypes)
PYTHON_NUMBERS = (True, 3, 1.5, 1.5 + 0.5j)
_BUILT_IN_ERRORS = (TypeError, ValueError, OverflowError, IndexError, NotImplementedError)


@dataclass(frozen=True)
class DtypeCall:
    """A function with arguments of some dtypes; its name says which."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """Returns numbers of a dtype of an array's shape, made of its elements: small ones, of both signs if possible."""
    x = np.asarray(x)
    if dtype.kind == "b":
        return np.asarray(x.real > 1)
    if dtype.kind in "iu" and x.dtype.kind in "fc":
        x = np.rint(3 * x.real)
    if dtype.kind == "u":
        x = np.abs(x)
    if dtype.kind == "c" and x.dtype.kind != "c":
        x = x + 0.25j * x[..., ::-1] if x.ndim else x + 0.25j * x
    return np.asarray(x.real if x.dtype.kind == "c" and dtype.kind != "c" else x).astype(dtype)


def in_every_dtype(
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    *,
    free: Sequence[int] | None = None,
    of_numbers: bool = False,
    all_mixtures: bool = True,
) -> Iterator[DtypeCall]:
    """Yields a call with arguments of each dtype, in mixtures and beside Python numbers.

    Args:
      name: how the call is named.
      function: takes the arguments.
      args: arrays.
      free: the numbers of the arguments that take each dtype: by default the floats, or else all. There is a single
        call if there are none.
      of_numbers: whether the function also takes Python numbers alone.
      all_mixtures: whether each dtype occurs in each of the three mixtures, or in one: then each mixture has a third of
        the dtypes, which are others for other names.
    """
    first = 0 if all_mixtures else zlib.crc32(name.encode())
    if free is None:
        avals = [get_aval(x) for x in args]
        free = [i for i, aval in enumerate(avals) if is_inexact(aval.dtype)] or list(range(len(args)))
    if not free:
        yield DtypeCall(name, function, tuple(args))
        return
    for k, dtype in enumerate(DTYPES):
        yield DtypeCall(f"{name} {dtype}", function, _replaced(args, {i: cast(args[i], dtype) for i in free}))
        if len(free) > 1:
            other = DTYPES[(7 * k + 3) % len(DTYPES)]
            cycle = [dtype, other]
            mixed = {i: cast(args[i], cycle[n % 2]) for n, i in enumerate(free)}
            number = PYTHON_NUMBERS[k % len(PYTHON_NUMBERS)]
            weak = {free[0]: cast(args[free[0]], dtype), **dict.fromkeys(free[1:], number)}
            leading = PYTHON_NUMBERS[(k + 1) % len(PYTHON_NUMBERS)]
            strong = {free[0]: leading, **{i: cast(args[i], dtype) for i in free[1:]}}
            mixtures = [(f"{dtype} {other}", mixed), (f"{dtype} {number!r}", weak), (f"{leading!r} {dtype}", strong)]
            for text, others in mixtures if all_mixtures else [mixtures[(first + k) % 3]]:
                yield DtypeCall(f"{name} {text}", function, _replaced(args, others))
    if of_numbers:
        for number in PYTHON_NUMBERS:
            yield DtypeCall(f"{name} {number!r}", function, _replaced(args, dict.fromkeys(free, number)))


def _replaced(args: Sequence[Any], others: dict[int, Any]) -> tuple[Any, ...]:
    return tuple([others.get(i, x) for i, x in enumerate(args)])


#: Their results are wider than float16, to which numbers on the way are rounded, but not inside a loop of XLA.
ROUNDED_ON_THE_WAY = {"frompyfunc"}


def disagreements(
    calls: Sequence[DtypeCall], backends: Sequence[str] = ("numpy", "xla"), *, of_numpy: bool = False
) -> list[str]:
    """Returns in words where ``jit(f)`` is not ``f`` in value, dtype, shape or weakness, or only one is refused.

    All calls are compiled as one program on each backend.

    Args:
      calls: the calls.
      backends: those of `jit`.
      of_numpy: whether the calls are operators and methods of NumPy's arrays. Their errors are NumPy's, in the frame of
        the call itself.
    """
    found: list[str] = []
    wanted: dict[str, tuple[DtypeCall, list[Any]]] = {}
    for call in calls:
        eager, staged = _attempt(lambda call=call: call.function(*call.args)), _attempt(lambda call=call: _stage(call))
        if isinstance(eager, np.linalg.LinAlgError) or isinstance(staged, ConcretizationTypeError):
            continue  # an error or a shape depends on values: docs/numpy.md
        if not of_numpy and _is_of_the_call(eager):
            continue
        if isinstance(eager, Exception) or isinstance(staged, Exception):
            if _class_of(eager) is not _class_of(staged):
                found.append(f"{call.name}: eager {_shown(eager)}, staged {_shown(staged)}")
            continue
        leaves = tree.leaves(eager)
        have, want = staged, [get_aval(x) for x in leaves]
        if have != want:
            found.append(f"{call.name}: eager {_texts(want)}, staged {_texts(have)}")
        else:
            wanted[call.name] = call, leaves
    for backend in backends:
        found += _compiled_disagreements(wanted, backend)
    return found


def _compiled_disagreements(wanted: dict[str, tuple[DtypeCall, list[Any]]], backend: str) -> list[str]:
    program = jit(
        lambda args: {name: call.function(*args[name]) for name, (call, _) in wanted.items()}, backend=backend
    )
    args = {name: call.args for name, (call, _) in wanted.items()}
    try:
        results = program(args)
    except Exception as error:
        return [f"{', '.join(wanted)}: eager gives values, {backend} raises {_shown(error)}"]
    found = []
    for name, (call, want) in wanted.items():
        narrow = [x for x in tree.leaves(call.args) if get_aval(x).dtype == np.float16]
        is_rounded = name.split()[0] in ROUNDED_ON_THE_WAY and narrow
        for got, other in zip(tree.leaves(results[name]), want, strict=True):
            text = difference(got, other, float(np.finfo(np.float16).eps) if is_rounded else 0.0)
            if text:
                found.append(f"{name}, {backend}: {text}")
                break
    return found


def difference(got: Any, want: Any, least_eps: float = 0.0) -> str:
    """Returns in words how a result differs from what is wanted, or nothing.

    Args:
      got: the result.
      want: what is wanted.
      least_eps: the eps of a dtype to which numbers on the way are rounded, if that of the result is less.
    """
    have, wanted = get_aval(got), get_aval(want)
    if have != wanted:
        return f"expected {wanted}{'~' * wanted.weak_type}, got {have}{'~' * have.weak_type}"
    x, y = np.asarray(to_numpy(got)), np.asarray(to_numpy(want))
    if not is_inexact(y.dtype):
        return "" if np.array_equal(x, y) else f"expected {y.ravel()[:6]}, got {x.ravel()[:6]}"
    wide = np.complex128 if y.dtype.kind == "c" else np.float64
    eps = max(least_eps, float((ml_dtypes.finfo if is_float(y.dtype) else np.finfo)(y.dtype).eps))
    a, b = x.astype(wide), y.astype(wide)
    scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=1.0))
    close = np.isclose(a, b, rtol=64 * eps if eps < 0.01 else 4 * eps, atol=16 * eps * scale, equal_nan=True)
    if np.all(close):
        return ""
    return f"expected {b[~close].ravel()[:4]}, got {a[~close].ravel()[:4]}"


def _stage(call: DtypeCall) -> list[ShapedArray]:
    return list(make_jaxpr(call.function)(*call.args).out_avals)


def _attempt(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        return error


def _is_of_the_call(result: Any) -> bool:
    """Whether an error comes from a test's own code, such as an index of a Python number."""
    traceback = result.__traceback__ if isinstance(result, Exception) else None
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and "/tests/" in traceback.tb_frame.f_code.co_filename


def _class_of(result: Any) -> Any:
    if not isinstance(result, Exception):
        return None
    return next((error for error in _BUILT_IN_ERRORS if isinstance(result, error)), type(result))


def _shown(result: Any) -> str:
    if isinstance(result, Exception):
        return f"{type(result).__name__} ({str(result).splitlines()[0][-150:] if str(result) else ''})"
    return "gives a value"


def _texts(avals: Sequence[ShapedArray]) -> str:
    return ", ".join(f"{aval}{'~' * aval.weak_type}" for aval in avals)
