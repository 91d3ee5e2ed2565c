"""The law of operands whose dtype kind is not declared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from lawful import ops, tree
from lawful.core import Primitive, as_dtype, eval_closed_jaxpr, get_aval
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law
from lawful.laws._primitives.call import PrimitiveCall
from lawful.staging import make_jaxpr

_DTYPES: Final = tuple(
    map(
        as_dtype,
        ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"),
    )
)


@law("primitives", needs=("jaxprs", "jit"), subject="primitive", share=1 / 2)
def law_kinds_agree(trial: Trial) -> Claims:
    """Operands of any kind of dtype are promoted or refused, the same eagerly, traced and compiled.

    Equation: jit(f)(x) = eval_jaxpr(make_jaxpr(f)(x))(x) = f(x) for x of every dtype, also of kinds that the
    declaration of f does not name; or each refuses

    The function of an elementwise op promotes, its primitive refuses what the function would convert: both must accept
    or refuse alike. Another primitive is called where its type rule accepts the operands: its implementation need not
    look at types again.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the case is not a call of a declared primitive.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_kinds_agree(lawful, draw_call(ops.sin_p, RandomChoose(1)))
    """
    if not isinstance(trial.case, PrimitiveCall) or trial.case.primitive.declaration is None:
        raise Inapplicable("law: expected a call of a declared primitive, got another function")
    call, declaration = trial.case, trial.case.primitive.declaration
    if declaration.prepare is not None or not call.args:
        raise Inapplicable(f"law: expected arguments of one dtype, got those of {call.primitive!r}")
    public = None if call.params else _public_function(call.primitive)
    for dtype in trial.some(_DTYPES):
        args = tuple([_converted(x, get_aval(call.args[0]).dtype, dtype) for x in call.args])
        if public is not None:
            yield from _agreements(trial, f"the function, of {dtype}", public, args)
        if declaration.pointwise or _accepts(call, args):
            yield from _agreements(trial, f"the primitive, of {dtype}", call, args)


def _agreements(trial: Trial, subject: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Claims:
    """Yields claims about a function of some operands, traced and compiled."""
    eager = _attempt(partial(function, *args))
    ways: dict[str, Callable[[], Any]] = {"traced": partial(_traced, function, args)}
    for backend in trial.system.backends:
        ways[f"compiled by {backend}"] = partial(trial.system.jit(function, backend), *args)
    for name, way in ways.items():
        found = _attempt(way)
        if isinstance(found, Exception) or isinstance(eager, Exception):
            if isinstance(found, Exception) != isinstance(eager, Exception):
                yield Fault(f"{subject}: {name} it gives {_text(found)}, eagerly {_text(eager)}")
        else:
            yield Claim(f"{subject}, {name}", found, "eagerly", eager, weakness=True)


def _accepts(call: PrimitiveCall, args: tuple[Any, ...]) -> bool:
    """Whether the type rule of a primitive accepts operands."""
    return not isinstance(
        _attempt(lambda: call.primitive.rule("abstract_eval")(*map(get_aval, args), **call.params)), Exception
    )


def _public_function(primitive: Primitive) -> Callable[..., Any] | None:
    """Returns the function of an elementwise op, which promotes its operands."""
    functions = (getattr(ops, name) for name in ops.__all__)  # type: ignore[attr-defined]  # made when asked for
    return next((found for found in functions if getattr(found, "primitive", None) is primitive), None)


def _converted(x: Any, of: np.dtype[Any], dtype: np.dtype[Any]) -> Any:
    """Converts an operand to another dtype, if it has the dtype under test."""
    if get_aval(x).dtype != of:
        return x
    value = np.real(np.asarray(x))
    # NumPy raises for integers to negative powers, and negative floats do not convert to unsigned integers.
    return (np.abs(value) if dtype.kind in "iu" and value.dtype.kind != "b" else value).astype(dtype)


def _traced(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    closed, structure = make_jaxpr(function)(*args), tree.structure(function(*args))
    return tree.unflatten(structure, eval_closed_jaxpr(closed, *args))


def _attempt(way: Callable[[], Any]) -> Any:
    """Returns a result, or the error that refuses the operands."""
    try:
        return way()
    except (TypeError, ValueError) as error:
        return error


def _text(found: Any) -> str:
    return f"{type(found).__name__}: {found}" if isinstance(found, Exception) else f"{found!r}"
