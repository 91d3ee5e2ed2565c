"""`x.at[mask].set(v)` where the values of the mask are not known: NumPy's assignment, under every transformation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import laws
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.core import ArgumentIndexError, ArgumentValueError, TracerBoolConversionError
from lawful.laws.systems import Lawful
from lawful.ops import at
from lawful.staging import jit

X = np.linspace(-1.3, 2.4, 24).reshape(2, 3, 4)
MASKS = {3: X > 0, 2: X[..., 1] > 0, 1: X[0, :, 2] > -0.5, 0: np.array(True)}
# The index, the shape of the mask as a number of dimensions, and values that NumPy takes too.
CASES: list[tuple[Callable[[Any], Any], int, Any]] = [
    (lambda mask: mask, 3, 0.5),
    (lambda mask: mask, 3, np.array([[0.5]])),
    (lambda mask: (mask,), 2, np.array([0.1, 0.2, 0.3, 0.4])),
    (lambda mask: (mask, slice(1, 3)), 2, np.array([[0.1, 0.2]])),
    (lambda mask: (slice(None), mask), 1, np.arange(8.0).reshape(2, 1, 4)),
    (lambda mask: (..., mask, slice(None, None, -1)), 1, np.arange(4.0)),
    (lambda mask: (slice(1, None), mask), 1, 2.0),
    (lambda mask: mask, 0, np.arange(4.0)),
    (lambda mask: (mask, ...), 0, X[None] * 0.5),
]
UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
every_case = pytest.mark.parametrize(("index", "ndim", "values"), CASES)


@every_case
@pytest.mark.parametrize("method", ["set", *UFUNCS, "divide", "power"])
def test_at_set_mask_assignment_of_numpy(method: str, index: Callable[[Any], Any], ndim: int, values: Any) -> None:
    x = abs(X) if method == "power" else X
    values = np.asarray(values) + 0.25

    def update(x: Any, mask: Any, values: Any) -> Any:
        return getattr(at(x)[index(mask)], method)(values)

    for mask in (MASKS[ndim], ~MASKS[ndim], np.zeros_like(MASKS[ndim])):
        want = update(x, mask, values)  # of a mask that is known: held to NumPy where `at` is tested
        for backend in ("numpy", "xla"):
            got = jit(update, backend=backend)(x, mask, values)
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14, strict=True)


@every_case
def test_at_set_mask_each_mask_of_a_batch_is_one(index: Callable[[Any], Any], ndim: int, values: Any) -> None:
    masks = np.stack([MASKS[ndim], ~MASKS[ndim]])
    got = vmap(lambda mask: at(X)[index(mask)].set(values))(masks)
    for mask, row in zip(masks, np.asarray(got), strict=True):
        np.testing.assert_array_equal(row, at(X)[index(mask)].set(values))


@pytest.mark.parametrize("method", ["set", "add", "multiply", "divide", "min"])
def test_at_set_mask_laws_hold(method: str) -> None:
    def update(x: Any, value: Any) -> Any:
        return getattr(at(x)[(x > 0.1,)], method)(value)

    # By XLA the variations of one method, and the given call of all.
    asked = ["jvp_finite_differences", "vjp_transpose", "vmap_is_loop", "jit_is_eager", "second_order"]
    system = None if method == "divide" else Lawful("numpy")
    args, options = (X, np.array(0.77)), {"effort": laws.quick, "laws": asked, "raise_on_failure": True}
    report = laws.check(jit(update, backend="numpy"), *args, system=system, **options)
    assert {law.law: law.verdict for law in report.laws} == dict.fromkeys(asked, "passed")
    for name in asked:
        law = laws.laws[name]
        law(Lawful("xla", backends=["xla"]), laws.Case.of(jit(update, backend="xla"), *args), effort=laws.quick)


@pytest.mark.parametrize("method", ["set", "add", "subtract", "multiply", "divide", "min", "max"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 0.0])
def test_at_set_mask_update_that_is_not_made_has_no_derivative(method: str, value: float) -> None:
    x, nowhere = np.array([0.0, 1.0, -2.0]), np.zeros(3, bool)

    def total(x: Any, mask: Any, value: Any) -> Any:
        return lnp.sum(getattr(at(x)[mask], method)(value))

    gradient = jit(grad(total, (0, 2)))(x, nowhere, np.float64(value))
    np.testing.assert_array_equal(np.asarray(gradient[0]), np.ones(3))
    np.testing.assert_array_equal(np.asarray(gradient[1]), 0.0)


def test_at_set_mask_what_cannot_be_chosen_says_so() -> None:
    def chosen(*index: Any, values: Any = 1.0) -> Callable[[Any], Any]:
        return jit(lambda mask: at(X)[tuple(mask if entry == "mask" else entry for entry in index)].set(values))

    with pytest.raises(ArgumentValueError, match=r"at: expected one value for all .*\(5,\); choose with .*where"):
        chosen("mask", values=np.arange(5.0))(MASKS[3])
    with pytest.raises(ArgumentIndexError, match=r"\(2, 3, 4\), got one of \(4, 3, 2\); compare the array"):
        chosen("mask")(MASKS[3].T)
    with pytest.raises(ArgumentIndexError, match=r"got one of \(3,\)"):
        chosen(..., "mask")(MASKS[1])
    with pytest.raises(TracerBoolConversionError, match=r"x\.at\[mask\]\.set"):
        chosen(0, "mask")(MASKS[1])
    with pytest.raises(TracerBoolConversionError, match=r"x\.at\[mask\]\.set"):
        jit(lambda x: at(x)[x > 0].get())(X)
