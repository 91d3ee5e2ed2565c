"""`check` holds every law against someone's function, tells what does not apply, and explains mistakes."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.core import ArgumentTypeError, ArgumentValueError, NonArrayError, NotLinearError
from lawful.custom_rules import custom_vjp
from lawful.laws import Effort, LawReport, Report, check, laws, quick, set_default_effort, thorough, usual

pytestmark = pytest.mark.once

x = np.array([0.5, 1.0])


def product(x: Any) -> Any:
    return ops.mul(ops.sin(x), x)


def half_gradient(x: Any) -> Any:
    """Has the wrong derivative."""
    return ops.mul(stop_gradient(x), x)


def law_of(report: Report, name: str) -> LawReport:
    [found] = [law for law in report.laws if law.law == name]
    return found


@pytest.mark.once
def test_check_correct_function() -> None:
    """A correct function passes every law whose subject is a function."""
    report = check(product, x)
    assert report.ok, str(report)
    assert {law.law for law in report.laws} == {name for name, law in laws.items() if law.subject == "function"}
    assert all(law.verdict == "passed" for law in report.laws)
    assert report.effort == "thorough"


def test_check_slow_law_is_tried_on_its_share_of_the_cases() -> None:
    report = check(product, x, effort=quick, laws=["shard_map_types", "jvp_linear"])
    assert 0 < law_of(report, "shard_map_types").cases <= law_of(report, "jvp_linear").cases // 3


@pytest.mark.once
def test_check_wrong_derivative_has_a_small_counterexample() -> None:
    report = check(half_gradient, np.array([[1.37, -2.21, 0.4], [5.3, 0.1, 1.0]]), effort=usual)
    failed = {law.law for law in report.failures}
    assert failed == {"jvp_finite_differences", "second_order"}
    failure = law_of(report, "jvp_finite_differences")
    assert failure.counterexample.splitlines()[1] == "    half_gradient(np.array(1.0))"
    assert f"with half_gradient of {__file__}" in failure.counterexample
    assert failure.size is not None
    assert failure.size > 1e-3


def test_check_what_the_function_refuses_does_not_apply() -> None:
    def pair(x: Any) -> Any:
        return ops.mul(x[0], x[1])

    report = check(pair, x, effort=quick)
    assert report.ok
    refused = {entry.kind: entry.reason for entry in report.refused}
    assert refused["arrays with no elements"].startswith("the function refuses them: IndexError: ")
    assert set(refused) == {
        *("0-dimensional arrays", "Python numbers", "arrays with no elements", "dimensions of length 1")
    }
    assert "not applicable: Python numbers: the function refuses them: TypeError: " in str(report)


def test_check_what_is_infinite_does_not_apply() -> None:
    report = check(lambda x: ops.reduce_max(x, (0,)), x, effort=quick)
    assert report.ok, str(report)
    assert "the function gives NaN or infinity for them" in {entry.reason for entry in report.refused}


def test_check_error_under_a_transformation_only_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ops.sin_p.rules["jvp"]

    def of_two(primals: Any, tangents: Any) -> Any:
        if np.ndim(primals[0]) == 0:
            raise IndexError("no dimension")
        return right(primals, tangents)

    monkeypatch.setitem(ops.sin_p.rules, "jvp", of_two)
    report = check(product, x, effort=quick, laws=["jvp_linear"])
    [failure] = report.failures
    assert failure.reason.startswith(f"raises IndexError: no dimension, at {__file__}:")
    assert "product(np.array(" in failure.counterexample


@pytest.mark.parametrize("effort", [quick, thorough], ids=lambda effort: effort.name)
def test_check_function_with_python_branch(effort: Effort) -> None:
    """Laws that stage are inapplicable to a function that asks for values; the others are checked."""

    def positive(x: Any) -> Any:
        return ops.sin(x) if x > 0 else x

    report = check(positive, 0.5, effort=effort)
    assert report.ok, str(report)
    assert law_of(report, "jvp_linear").verdict == "passed"
    staged = law_of(report, "eval_jaxpr")
    assert staged.verdict == "inapplicable"
    assert "asks for values" in staged.reason


def test_check_trees_integers_and_kinks() -> None:
    def layer(params: Any, counts: Any) -> Any:
        return {"sum": ops.reduce_sum(ops.mul(params["w"], counts), (0,)), "w": (params["w"], counts)}

    assert check(layer, {"w": x}, np.array([1, 2]), effort=quick).ok
    assert check(lambda x: ops.max(x, 0.0), np.array([0.0, 1.0]), effort=quick).ok


def test_check_directions_are_drawn_again() -> None:
    assert law_of(check(product, x, effort=quick, laws=["jvp_linear"]), "jvp_linear").cases + 6 == (
        law_of(check(product, x, effort=quick, laws=["jvp_linear"], seeds=range(7)), "jvp_linear").cases
    )


def test_check_default_effort_is_thorough_or_what_was_chosen() -> None:
    assert check(product, x, laws=["jvp_linear"]).effort == thorough.name
    set_default_effort(quick)
    try:
        assert check(product, x, laws=["jvp_linear"]).effort == quick.name
        assert check(product, x, laws=["jvp_linear"], effort=usual).effort == usual.name
    finally:
        set_default_effort(None)
    with pytest.raises(ArgumentTypeError, match=r"expected an Effort or None, got 'quick'; give quick, usual or"):
        set_default_effort("quick")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "options", "error", "text"),
    [
        ((ops.sin(x),), {}, ArgumentTypeError, r"expected a function, got array\(.*check\(f, x\)"),
        ((product,), {}, ArgumentValueError, "expected an example of the arguments, got none; give arrays"),
        ((product, "abc"), {}, NonArrayError, r"got 'abc' at args\[0\]; close over what is no array"),
        ((lambda d: d["a"], {"a": object()}), {}, NonArrayError, r"at args\[0\]\['a'\]"),
        ((lambda x: 1 / 0, x), {}, ArgumentValueError, "got ZeroDivisionError: division by zero from f"),
        ((lambda x: {"a": "no"}, x), {}, NonArrayError, r"got 'no' at result\['a'\]; return arrays only"),
        ((product, x), {"laws": ["typo"]}, ArgumentValueError, "expected names of laws, got 'typo'; the laws are"),
        ((product, x), {"effort": "thorough"}, ArgumentTypeError, "expected an effort, got 'thorough'; give"),
        ((product, x), {"system": "lawful"}, ArgumentTypeError, "expected a system of lawful.laws.systems"),
    ],
)
def test_check_mistake_is_explained(args: Any, options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        check(*args, **options)
    assert str(caught.value).startswith(__file__)


def test_check_of_float16_near_its_end() -> None:
    """Eight times a tangent overflows inside: the laws of linearity say nothing of it, and do not fail."""

    def scaled(x):
        return ops.mul(ops.mul(x, np.float16(20_000)), np.float16(1 / 1024))

    report = check(scaled, np.array([0.5, 1.0], np.float16), laws=["jvp_linear", "vjp_linear"], effort=thorough)
    assert report.ok


def test_check_error_that_stops_many_laws_is_listed_once() -> None:
    """A bwd that forgets the cotangent stops every law of forward mode."""

    @custom_vjp
    def sine(x: Any) -> Any:
        return ops.sin(x)

    sine.defvjp(lambda x: (ops.sin(x), x), lambda x, ct: (ops.cos(x),))
    report = check(sine, np.array([0.5, -2.0]), effort=quick)
    stopped = [law.law for law in report.failures if isinstance(law.error, NotLinearError)]
    assert len(stopped) > 5
    assert str(report).count("multiply each term of its result by the cotangent") == 1
    assert f"{', '.join(stopped)}: raises NotLinearError: custom_vjp of sine" in str(report)
    assert sum(line.endswith(f"as {stopped[0]}") for line in str(report).splitlines()) == len(stopped) - 1
