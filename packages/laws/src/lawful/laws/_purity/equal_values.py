"""The law of values that are equal and distinguishable: parameters, static arguments and the keys of dicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from lawful import tree
from lawful.core import Primitive, eval_closed_jaxpr, exact_key
from lawful.laws._derivatives.directions import is_floating, restrict, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Trial, law
from lawful.ops import mul
from lawful.staging import cse_jaxpr, dce_jaxpr, jit, make_jaxpr

#: Numbers, each next to those that it is equal to.
_NUMBERS: Final[tuple[Any, ...]] = (0.0, -0.0, 0, False, 1, True, 1.0, np.float64(1.0), float("nan"), 0j, -0j)
_INDICES: Final = {exact_key(number): index for index, number in enumerate(_NUMBERS)}


class _Named(NamedTuple):
    number: Any


@dataclass(frozen=True)
class _Frozen:
    number: Any


class _Equal:
    """A class as a user may write it: equal to any holder of an equal number."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Equal) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


#: Functions that put a number into a holder, and take it out.
_HOLDERS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "a number": (lambda number: number, lambda held: held),
    "a tuple": (lambda number: (("x", number),), lambda held: held[0][1]),
    "a namedtuple": (_Named, lambda held: held.number),
    "a slice": (slice, lambda held: held.stop),
    "a frozen dataclass": (_Frozen, lambda held: held.number),
    "a frozenset": (lambda number: frozenset({number}), lambda held: next(iter(held))),
    "an object with __eq__": (_Equal, lambda held: held.number),
    "a dataclass in a namedtuple": (lambda number: _Named(_Frozen(number)), lambda held: held.number.number),
}


def _code(number: Any) -> float:
    """Returns a float that identifies a number."""
    return 1.0 + _INDICES[exact_key(number)]


def _code_in(holder: str, held: Any) -> float:
    """Returns the code of the number in a holder."""
    return _code(_HOLDERS[holder][1](held))


def _coded() -> Primitive:
    """Returns a primitive with pure rules, which scales by the code of its parameter."""
    primitive = Primitive("coded", pure_rules=True)
    primitive.def_impl(lambda x, *, held, holder: x * x.dtype.type(_code_in(holder, held)))
    primitive.def_abstract_eval(lambda x, *, held, holder: x)
    primitive.def_jvp(
        lambda primals, tangents, *, held, holder: (
            primitive.bind(*primals, held=held, holder=holder),
            mul(tangents[0], _code_in(holder, held)),
        )
    )
    return primitive


@law("purity", needs=("jit", "jvp", "jaxprs"), share=1 / 16)
def law_equal_values_are_told_apart(trial: Trial) -> Claims:
    """Parameters, static arguments and keys of dicts that are equal and not the same are told apart by every cache.

    Equation: T(f(v, ·))(x) is the same whatever calls there were with values equal to v

    Such are 0.0 and -0.0, and 1, True and 1.0, also within tuples, namedtuples, slices, frozensets, frozen dataclasses
    and objects with an ``__eq__`` of the user's. A NaN is the same as another one.

    Raises:
      LawViolation: it does not hold.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_equal_values_are_told_apart(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    function, args = restrict(trial, lambda aval: is_floating(aval) and aval.shape != () and not aval.weak_type)
    for name in trial.some(_HOLDERS):
        values = list(map(_HOLDERS[name][0], _NUMBERS))
        yield from _static_arguments(name, values, function, args)
        yield from _parameters(trial, name, values, args[0])
    yield from _keys(args[0])


def _static_arguments(name: str, values: list[Any], function: Callable[..., Any], args: list[Any]) -> Claims:
    traced = 0

    def scaled(held: Any, *xs: Any) -> Any:
        nonlocal traced
        traced += 1
        return [mul(y, _code_in(name, held)) for y in function(*xs)]

    compiled = jit(scaled, static_argnums=0, backend="numpy")
    for held in values:
        yield Claim(f"jit with {name} {held} as static argument", compiled(held, *args), "f", scaled(held, *args))
    before = traced
    for held in values:
        compiled(held, *args)
    if traced > before:
        yield Fault(f"jit traces again for {name} that it was called with before")


def _parameters(trial: Trial, name: str, values: list[Any], x: Any) -> Claims:
    primitive, t = _coded(), tangents_of(trial, x)
    for _ in range(3):  # a derivative is cached from the second time on
        for held in values:

            def apply(x: Any, held: Any = held) -> Any:
                return primitive.bind(x, held=held, holder=name)

            found = trial.system.jvp(apply, (x,), (t,))[1]
            yield Claim(f"jvp with {name} {held} as parameter", found, "v · code", mul(t, _code_in(name, held)))

    def apply_all(x: Any) -> list[Any]:
        return [primitive.bind(x, held=held, holder=name) for held in values]

    closed = make_jaxpr(apply_all)(x)
    expected = eval_closed_jaxpr(closed, x)
    for what, rewritten in (("cse", cse_jaxpr(closed)), ("dce", dce_jaxpr(closed, (True,) * len(expected)))):
        yield Claim(
            f"{what} of equations with {name} as parameter", eval_closed_jaxpr(rewritten, x), "before", expected
        )


def _keys(x: Any) -> Claims:
    compiled = jit(lambda tree: tree, backend="numpy")
    for key in (1, True, 1.0, np.float64(1.0), 0.0, -0.0, "a", _Name("a")):
        for _ in range(2):
            given = {key: x}
            found = compiled(given)
            if tree.structure(found).exact_key != tree.structure(given).exact_key:
                yield Fault(f"jit of the identity gives {list(found)} as the keys of a dict with {[key]}")


class _Name(str):
    """A subclass of str."""
