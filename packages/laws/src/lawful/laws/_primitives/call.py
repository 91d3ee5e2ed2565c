"""A call of a primitive, drawn by its declaration: a function of arrays to which every law applies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful.core import Primitive
from lawful.laws._law.case import Case
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable
from lawful.laws._law.smooth import is_smooth
from lawful.laws._law.values import array_in, expression, indented
from lawful.laws._primitives.special_args import special_args
from lawful.laws._primitives.unequal import comparable_args
from lawful.laws._primitives.weak_args import draw_weak_args
from lawful.laws._programs.catalogue import bind_text
from lawful.laws._programs.choose import Chooser


@dataclass(frozen=True, slots=True)
class PrimitiveCall(Case):
    """A primitive with its parameters, called with the arrays that it is strict about.

    Attributes:
      primitive: the primitive.
      params: its static parameters.
      args: arrays within its domain.
      seed: what the laws draw their directions from.

    >>> from lawful import ops
    >>> call = PrimitiveCall(ops.mul_p, {}, (2.0, 3.0))
    >>> float(call(*call.args))
    6.0
    """

    primitive: Primitive
    params: dict[str, Any]
    args: tuple[Any, ...]
    seed: int = 0

    def __call__(self, *args: Any) -> Any:
        return self.primitive.bind(*args, **self.params)

    @property
    def __name__(self) -> str:
        return self.primitive.name

    def on(self, system: Implementation) -> Callable[..., Any]:
        return self

    def comparable(self, system: Implementation, args: tuple[Any, ...]) -> tuple[Any, ...]:
        declaration = self.primitive.declaration
        args = tuple([self.args[i] if i in self.fixed else x for i, x in enumerate(args)])
        backends = ["", *[name for name in system.backends if name != "numpy"]]
        if declaration is None or not (len(backends) > 1 or declaration.unequal):
            return args
        return comparable_args(declaration, backends, args, self.params)

    @property
    def fixed(self) -> Sequence[int]:
        return self.primitive.declaration.units(len(self.args)) if self.primitive.declaration is not None else ()

    @property
    def is_pointwise(self) -> bool:
        return self.primitive.declaration is not None and self.primitive.declaration.pointwise

    def text(self, system: Implementation) -> str:
        return f"The call:\n{indented(repr(self))}"

    def __repr__(self) -> str:
        args = map(expression, self.args)
        params = (f"{name}={expression(value)}" for name, value in self.params.items())
        return f"{bind_text(self.primitive)}({', '.join([*args, *params])})"


def draw_call(
    primitive: Primitive, choose: Chooser, *, smooth: bool = False, special: bool = False, weak: bool = False
) -> PrimitiveCall:
    """Returns a call of a primitive, of arguments within its domain: arrays, and Python numbers where it takes them.

    Args:
      primitive: it has a declaration.
      choose: draws.
      smooth: whether to keep away from kinks and jumps.
      special: whether to put special numbers into the arguments, as ``special_args`` does.
      weak: whether to have a Python number in every call.

    Raises:
      Inapplicable: there is a kink or jump, or the primitive takes no Python number.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose
    >>> call = draw_call(ops.mul_p, RandomChoose(0))
    >>> call.primitive.name, len(call.args)
    ('mul', 2)
    """
    declaration = primitive.declaration
    assert declaration is not None, f"{primitive!r} has no declaration"
    avals, params = declaration.sample(choose)
    random = np.random.default_rng(choose.integer(0, 2**16))
    last = len(declaration.domain) - 1
    args = tuple([array_in(random, aval, declaration.domain[min(i, last)]) for i, aval in enumerate(avals)])
    if special:
        args = special_args(random, primitive, args, params, extreme=True)
    elif declaration.prepare is not None:
        args = tuple(declaration.prepare(*args, **params))
    seed = choose.integer(0, 2**16)
    given = draw_weak_args(choose, primitive, args, params, always=weak)
    if weak and given is args:
        raise Inapplicable(f"{primitive!r}: takes no Python number for {args}")
    call = PrimitiveCall(primitive, params, given, seed)
    if smooth:
        with np.errstate(all="ignore"):
            if not is_smooth(call, call.args, call(*call.args), constant=not declaration.differentiable):
                raise Inapplicable(f"{primitive!r}: expected arguments where it is smooth, got {call.args}")
    return call
