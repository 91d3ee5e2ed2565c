"""The law of rules that read state: a rule runs each time, unless its primitive declares its rules pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lawful.control_flow import scan
from lawful.core import Primitive
from lawful.laws._derivatives.directions import is_floating, restrict, tangents_of
from lawful.laws._law.law import Claim, Claims, Trial, law
from lawful.ops import mul
from lawful.staging import jit

#: Powers of two scale a derivative without rounding. Caches keep a rule from its second run on.
_FACTORS: Final = (2.0, 0.5, 4.0)


class Scaling:
    """The primitive ``x ↦ x``, whose derivative, transpose and batches are scaled by a variable factor."""

    def __init__(self) -> None:
        self.factor = 1.0
        #: Without ``pure_rules``, because its rules read the factor.
        self.primitive = primitive = Primitive("scaling")
        primitive.def_impl(lambda x: x * 1)
        primitive.def_abstract_eval(lambda x: x)
        primitive.def_jvp(lambda primals, tangents: (primitive.bind(*primals), mul(tangents[0], self.factor)))
        primitive.def_transpose(lambda ct, x: [mul(ct, self.factor)])
        primitive.def_batch(lambda args, dims: (mul(primitive.bind(*args), self.factor), dims[0]))

    def __call__(self, x: Any) -> Any:
        return self.primitive.bind(x)


def _by_a_rule(op: Scaling) -> Callable[[Any], Any]:
    """Returns a primitive with pure rules, whose jvp rule applies ``op`` to the tangent."""
    from lawful.autodiff import jvp

    outer = Primitive("applying_scaling", pure_rules=True)
    outer.def_impl(lambda x: x * 1)
    outer.def_abstract_eval(lambda x: x)
    outer.def_jvp(lambda primals, tangents: (outer.bind(*primals), jvp(op, primals, tangents)[1]))
    return outer.bind


#: Ways to apply a primitive: directly, or inside a jaxpr that is evaluated.
_APPLICATIONS: Final[dict[str, Callable[[Scaling], Callable[[Any], Any]]]] = {
    "s": lambda op: op,
    "jit(s)": lambda op: jit(op, backend="numpy"),
    "a scan of s": lambda op: lambda x: scan(lambda carry, _: (op(carry), None), x, None, length=1)[0],
    "a primitive whose rule applies s": _by_a_rule,
}


@law("purity", needs=("jvp", "linearize", "vjp", "jaxprs"), share=1 / 8)
def law_rules_read_state(trial: Trial) -> Claims:
    """A rule of a primitive that does not say that its rules are pure runs each time, and sees what it reads.

    Equation: T(f ∘ s)(x) = k · T(f)(x) for a primitive s whose jvp rule scales tangents by a variable k, whatever k was
    before, and T among jvp, linearize and vjp

    It says nothing of functions that are staged: a rule runs once for each entry of the cache of ``jit``.

    Raises:
      LawViolation: it does not hold.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_rules_read_state(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    function, args = restrict(trial, lambda aval: is_floating(aval) and not aval.weak_type)
    tangents = tangents_of(trial, args)
    out, derivative = trial.system.jvp(function, args, tangents)
    w = tangents_of(trial, out)
    gradient = trial.system.vjp(function, *args)[1](w)
    for name in trial.some(_APPLICATIONS):
        op = Scaling()
        apply = _APPLICATIONS[name](op)

        def composed(*xs: Any, apply: Callable[[Any], Any] = apply) -> Any:
            return function(*map(apply, xs))

        found: dict[str, tuple[Callable[[Any], Any], Any]] = {
            "jvp": (lambda f: trial.system.jvp(f, args, tangents)[1], derivative),
            "linearize": (lambda f: trial.system.linearize(f, *args)[1](*tangents), derivative),
            "vjp": (lambda f: trial.system.vjp(f, *args)[1](w), gradient),
        }
        for transformation in trial.some(found):
            transformed, unscaled = found[transformation]
            for op.factor in _FACTORS:
                what = f"{transformation}(f ∘ s) for {name}, of factor {op.factor:g}"
                scaled = [mul(x, op.factor) for x in unscaled]
                yield Claim(what, list(transformed(composed)), f"{op.factor:g} · {transformation}(f)", scaled)
