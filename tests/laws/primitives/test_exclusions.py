"""Each exclusion of a declaration is needed: where derivatives exist, or backends agree, nothing is excluded."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.core import Excluded, Primitive, Unequal, get_aval, is_inexact
from lawful.laws import (
    RandomChoose,
    declared_primitives,
    draw_call,
    law_jit_is_eager,
    quick,
    usual_dtypes,
)
from lawful.laws._derivatives.directions import normal
from lawful.laws._law.comparison import find_difference
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._primitives.special_args import special_args
from lawful.laws._primitives.special_points import _TOLERANCES, _Line, _near
from lawful.laws._primitives.unequal import NEARLY_SUBNORMAL, OF_OTHER_ORDER, SUBNORMAL
from lawful.laws.systems import Lawful
from lawful.staging import jit

SEEDS = range(100)
WIDE = tuple(map(np.dtype, ("float64", "complex128")))
#: The derivative may exist at no more than this share of the excluded elements.
MOST_SMOOTH = 0.6


def exclusions(primitive: Primitive) -> Iterator[tuple[Excluded, Any]]:
    """Yields each exclusion with a function of all arguments that gives its mask."""
    declaration = primitive.declaration
    assert declaration is not None
    for i, interval in enumerate(declaration.domain):
        for excluded in interval.excluded:
            yield excluded, lambda *args, i=i, point=excluded.point, **_: np.asarray(args[i]) == point
    for excluded in declaration.excluded:
        yield excluded, excluded.point


def is_needed(primitive: Primitive, excluded: Excluded, mask_of: Any) -> bool:
    """Whether a derivative of the order does not exist at most of the excluded elements, as differences tell."""
    smooth = count = 0
    for seed in SEEDS:
        call, random = draw_call(primitive, RandomChoose(seed, WIDE)), np.random.default_rng(seed)
        args = special_args(random, primitive, call.args, call.params, extreme=False)
        with np.errstate(all="ignore"):
            mask = np.asarray(mask_of(*args, **call.params))
        if any(get_aval(x).dtype not in WIDE for x in args) or not mask.any():
            continue
        line = line_at(call, args, random)
        exists = np.isfinite(line.right[excluded.order]) & np.isfinite(line.left[excluded.order])
        exists &= _near(line.right[excluded.order], line.left[excluded.order], _TOLERANCES[excluded.order])
        smooth, count = smooth + int(np.sum(exists & mask)), count + int(np.sum(mask))
    assert count, f"{primitive!r}: no point that is excluded for {excluded.reason!r} is drawn"
    return smooth <= MOST_SMOOTH * count


def line_at(call: PrimitiveCall, args: tuple[Any, ...], random: np.random.Generator) -> _Line:
    vs = [np.asarray(normal(random, get_aval(x))) + 0.5 for x in args]
    with np.errstate(all="ignore"):
        return _Line.of(lambda s: call(*[x + s * v for x, v in zip(args, vs, strict=True)]))


pointwise = [p for p in declared_primitives() if p.declaration and p.declaration.pointwise and [*exclusions(p)]]


@pytest.mark.parametrize("primitive", pointwise, ids=lambda p: p.name)
def test_excluded_points_have_no_derivative(primitive: Primitive) -> None:
    needless = [excluded.reason for excluded, mask in exclusions(primitive) if not is_needed(primitive, excluded, mask)]
    assert not needless


def test_excluded_point_that_is_smooth_is_needless(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ops.sin_p.declaration is not None
    excluded = Excluded(lambda x: x == 0, "no reason at all")
    monkeypatch.setattr(ops.sin_p, "declaration", replace(ops.sin_p.declaration, excluded=(excluded,)))
    assert not is_needed(ops.sin_p, excluded, excluded.point)


unequal = [p for p in declared_primitives() if p.declaration and p.declaration.unequal]


def differs(call: PrimitiveCall, one: Unequal) -> bool:
    """Whether a call is something else on a backend; on any, or in its reference, where none is named."""
    assert call.primitive.declaration is not None
    reference = call.primitive.declaration.reference
    with np.errstate(all="ignore"):
        expected = call(*call.args)
        others = [] if one.backend or reference is None else [reference(*call.args, **call.params)]
        if any(find_difference(expected, other) is not None for other in others):
            return True
        found = tree.map(np.asarray, jit(call, backend=one.backend or "xla")(*call.args))
        return find_difference(expected, found) is not None


def with_an_infinity(call: PrimitiveCall) -> PrimitiveCall:
    """Returns a call with an infinite element, as the law of special values may put into any."""
    first, *rest = call.args
    if not is_inexact(get_aval(first).dtype) or not np.size(first):
        return call
    changed = np.array(first)
    changed.flat[-1] = -np.inf
    return replace(call, args=(changed, *rest))


_LEFT_VECTORS = {
    "compute_left_eigenvectors": True,
    "compute_right_eigenvectors": False,
    "enable_eigvec_derivs": True,
}
_AS_GIVEN = {"transpose_a": False, "conjugate_a": False}
_NO_PERMUTATION = np.array([0, -1], np.int32)
#: Calls at unequal points that are rarely drawn.
KNOWN = [
    PrimitiveCall(ops.eig_p, _LEFT_VECTORS, (np.array([[0.0, 1.0], [-1.0, 1.0]], "float32"),)),
    PrimitiveCall(
        ops.digamma_mean_p, {"order": 3, "power": 0}, (np.array([6e-8], "float16"), np.array([-1.0], "float16"))
    ),
    PrimitiveCall(ops.solve_by_factors_p, _AS_GIVEN, (np.eye(2), _NO_PERMUTATION, np.array([[1.0], [3.0]]))),
]


@pytest.mark.parametrize("primitive", unequal, ids=lambda p: p.name)
def test_unequal_points_differ(primitive: Primitive) -> None:
    assert primitive.declaration is not None
    for one in primitive.declaration.unequal:
        assert len(one.reason.split()) >= 2
        calls = [draw_call(primitive, RandomChoose(seed, usual_dtypes), special=True) for seed in range(400)]
        calls += list(map(with_an_infinity, calls))
        calls += [call for call in KNOWN if call.primitive is primitive]
        calls = [call for call in calls if np.any(one.point(*map(np.asarray, call.args), **call.params))]
        assert any(differs(call, one) for call in calls), one.reason


def test_unequal_numbers_differ_on_xla() -> None:
    """Without the exclusion, each of these is a failure of the law."""
    tiny = np.finfo(np.float64).tiny
    calls = {
        SUBNORMAL: PrimitiveCall(ops.sign_p, {}, (np.array([tiny / 4]),)),
        NEARLY_SUBNORMAL: PrimitiveCall(ops.div_p, {}, (np.array([complex(2, -np.inf)]), np.array([2 + 1j * tiny]))),
        OF_OTHER_ORDER: PrimitiveCall(ops.reduce_prod_p, {"axes": (0,)}, (np.array([tiny, 0.25, 2.0**60]),)),
    }
    for one, call in calls.items():
        assert np.all([one.point(x).any() for x in call.args[-1:]])
        with np.errstate(all="ignore"):
            expected, got = call(*call.args), np.asarray(jit(call, backend=one.backend)(*call.args))
        assert not np.array_equal(expected, got, equal_nan=True), one.reason
        law_jit_is_eager(Lawful(backends=("xla",)), call, effort=quick)
