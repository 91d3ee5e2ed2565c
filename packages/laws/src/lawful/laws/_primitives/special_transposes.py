"""The law of transposition at special operands and cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful.core import get_aval
from lawful.laws._derivatives.directions import normal
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._primitives.edges import special_values
from lawful.laws._primitives.primitive import linear_groups, linear_in
from lawful.laws._primitives.special_args import special_args
from lawful.laws._primitives.unequal import within_range


@law("primitives", needs=("jaxprs", "linear_transpose"), subject="primitive")
def law_primitive_special_transpose(trial: Trial) -> Claims:
    """The transpose of a primitive is right where fixed operands are zero, infinite or NaN, and where cotangents are.

    Equation: u f(v) = v fᵀ(u) element by element, if f is pointwise; and jit(fᵀ)(u) = fᵀ(u) at special u

    Products of complex numbers are left out: their order decides the parts of infinity times zero.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the primitive is linear in no real argument.

    >>> from lawful import ops
    >>> from lawful.laws import RandomChoose, draw_call
    >>> from lawful.laws.systems import lawful
    >>> law_primitive_special_transpose(lawful, draw_call(ops.transpose_p, RandomChoose(3)))
    """
    call, random, system = trial.case, trial.random, trial.system
    if not isinstance(call, PrimitiveCall) or call.primitive.declaration is None:
        raise Inapplicable("law: expected a call of a declared primitive, got a function")
    declaration = call.primitive.declaration
    args = special_args(random, call.primitive, trial.args, call.params, extreme=True)
    args = trial.comparable(tuple([within_range(x) for x in args]))
    found = False
    for group in linear_groups(declaration.linear, len(args)):
        out = get_aval(call(*args)) if not call.primitive.multiple_results else None
        if out is None or out.dtype.kind != "f" or any(get_aval(args[i]).dtype.kind != "f" for i in group):
            continue
        found = True
        linear = linear_in(call, args, group)
        v, u = [normal(random, get_aval(args[i])) for i in group], normal(random, out)

        def transposed(u: Any, linear: Any = linear, v: Any = v) -> Any:
            return list(system.linear_transpose(linear, *v)(u))

        # The cotangent of a scalar beside an array is a sum.
        if declaration.pointwise and all([get_aval(args[i]).shape == out.shape for i in group]):
            right = sum(np.asarray(system.numpy(ct)) * x for ct, x in zip(transposed(u), v, strict=True))
            left = np.asarray(system.numpy(linear(*v))) * u
            yield Claim(f"u f(v) in arguments {group}", left, "v fᵀ(u)", np.asarray(right).astype(left.dtype))
        special = special_values(trial, u)
        expected = transposed(special)
        for backend in trial.some([name for name in system.backends if name == "numpy" or declaration.pointwise]):
            compiled = system.jit(transposed, backend)(special)
            yield Claim(f"jit(fᵀ)(u) by {backend} in arguments {group}", compiled, "fᵀ(u)", expected)
    if not found:
        raise Inapplicable(f"law: expected a primitive that is linear in a real argument, got {call.primitive!r}")
