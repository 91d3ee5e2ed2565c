"""Every fault in a rule of someone's own primitive comes out of `check_primitive`, with a small counterexample."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Declaration,
    Excluded,
    Interval,
    NonArrayError,
    Primitive,
    ShapedArray,
    Tracer,
    UndefinedPrimal,
    instantiate_zeros,
)
from lawful.laws import LawViolation, Report, check, check_primitive, quick, usual
from lawful.laws.systems import lawful

pytestmark = pytest.mark.once

Rule = Callable[..., Any]
x = np.array([[0.5, 2.0, 1.0], [1.0, 2.5, 3.0]])
y = np.array([[10.0, 20.0, 3.0], [1.0, 2.5, 3.0]])
z = np.array([[3.0, 4.0, 2.0], [1.0, 2.5, 3.0]])


def multiply_add(declared: bool = False, pure_rules: bool = False, **wrong: Callable[[Any], Rule]) -> Primitive:
    """Returns the primitive of docs/new_primitive.md; ``wrong`` makes other rules of its function."""
    primitive = Primitive("multiply_add", pure_rules=pure_rules)

    def call(*args: Any) -> Any:
        return primitive.bind(*args)

    def types(x: ShapedArray, y: ShapedArray, z: ShapedArray) -> ShapedArray:
        if not (x.shape == y.shape == z.shape and x.dtype == y.dtype == z.dtype):
            raise TypeError(f"multiply_add: expected three arrays of one shape and dtype, got {x}, {y}, {z}")
        return ShapedArray(x.shape, x.dtype)

    def transpose(ct: Any, x: Any, y: Any, z: Any) -> list[Any]:
        x_bar = ct * y if type(x) is UndefinedPrimal else None
        y_bar = x * ct if type(y) is UndefinedPrimal else None
        return [x_bar, y_bar, ct if type(z) is UndefinedPrimal else None]

    primitive.def_impl(lambda x, y, z: np.add(np.multiply(x, y), z))
    primitive.def_abstract_eval(types)
    primitive.def_jvp(with_tangent(lambda f, x, y, z, a, b, c: f(a, y, f(x, b, c)))(call))
    primitive.def_transpose(transpose)
    primitive.def_batch(lambda args, dims: (call(*ops.align_to_front(args, dims)), 0))
    primitive.declare_absent("lowering", "it is evaluated by NumPy only")
    if declared:
        primitive.declaration = Declaration(
            sample=sample, reference=lambda x, y, z: x * y + z, domain=(Interval(-2, 2),)
        )
    for slot, rule in wrong.items():
        primitive.def_rule(slot, rule(call))
    return primitive


def sample(choose: Any) -> Any:
    aval = ShapedArray(choose.shape(), choose.dtype("f"))
    return (aval, aval, aval), {}


def with_tangent(tangent: Callable[..., Any]) -> Callable[[Any], Rule]:
    def made(call: Any) -> Rule:
        return lambda primals, tangents: (
            call(*primals),
            tangent(call, *primals, *map(instantiate_zeros, tangents)),
        )

    return made


def spread(**wrong: Callable[[Any], Rule]) -> Primitive:
    """Returns a primitive that repeats an array along a new first axis, ``n`` times."""
    primitive = Primitive("spread")

    def call(x: Any, n: int) -> Any:
        return primitive.bind(x, n=n)

    primitive.def_impl(lambda x, *, n: np.broadcast_to(x, (n, *np.shape(x))).copy())
    primitive.def_abstract_eval(lambda x, *, n: ShapedArray((n, *x.shape), x.dtype))
    primitive.def_jvp(lambda primals, tangents, *, n: (call(primals[0], n), call(instantiate_zeros(tangents[0]), n)))
    primitive.def_transpose(lambda ct, x, *, n: [ops.reduce_sum(ct, (0,))])
    primitive.def_batch(lambda args, dims, *, n: (call(args[0], n), dims[0] + 1))
    primitive.declare_absent("lowering", "it is evaluated by NumPy only")
    for slot, rule in wrong.items():
        primitive.def_rule(slot, rule(call))
    return primitive


def elements_of(counterexample: str) -> int:
    """Returns how many numbers stand in the call of a counterexample."""
    call = next(line for line in counterexample.splitlines() if "(" in line)
    return len(re.findall(r"(?<![\w.])-?\d+\.?\d*(?![\w'])", re.sub(r"in_axes=\(.*?\)", "", call)))


MULTIPLY_ADD_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a wrong sign": (
        {"jvp": with_tangent(lambda f, x, y, z, a, b, c: f(a, y, f(-x, b, c)))},
        "jvp_finite_differences",
    ),
    "a missing term": ({"jvp": with_tangent(lambda f, x, y, z, a, b, c: f(a, y, c))}, "jvp_finite_differences"),
    "a wrong axis of batching": (
        {"batch": lambda call: lambda args, dims: (call(*ops.align_to_front(args, dims)), 1)},
        "vmap_is_loop",
    ),
    "another op on a backend": (
        {"numpy": lambda call: lambda avals, compile: lambda x, y, z: x * y - z},
        "jit_is_eager",
    ),
    "another dtype in the type rule": (
        {"abstract_eval": lambda call: lambda x, y, z: ShapedArray(x.shape, np.float64)},
        "eval_jaxpr",
    ),
    "a tangent that is always float64": (
        {"jvp": with_tangent(lambda f, x, y, z, a, b, c: ops.convert_element_type(f(a, y, f(x, b, c)), np.float64))},
        "primitive_typing",
    ),
    "a zero tangent taken for an array": (
        {"jvp": lambda call: lambda xs, ts: (call(*xs), call(ts[0], xs[1], call(xs[0], ts[1], ts[2])))},
        "jvp_linear",
    ),
    "a rule that divides by the number of elements": (
        {"jvp": with_tangent(lambda f, x, y, z, a, b, c: f(a, y, f(x, b, c)) * (1 // min(np.size(x), 1)))},
        "jvp_linear",
    ),
    "a rule that takes what is traced for something else": (
        {
            "jvp": with_tangent(
                lambda f, x, y, z, a, b, c: f(a, y, f(x, b, c)) * (2.0 if isinstance(x, Tracer) else 1.0)
            )
        },
        "primitive_traced_rules",
    ),
    "a rule that needs a dimension": (
        {"jvp": with_tangent(lambda f, x, y, z, a, b, c: ops.reshape(f(a, y, f(x, b, c)), (-1, *np.shape(x)[1:])))},
        "primitive_typing",
    ),
}


@pytest.mark.once
def test_check_primitive_right_primitive_passes() -> None:
    report = check_primitive(multiply_add(), x, y, z, effort=usual)
    assert report.ok, str(report)
    assert {name for name, _ in report.tried} >= {
        *("the given arguments", "0-dimensional arrays", "arrays with no elements", "Python numbers", "32 bits"),
        "mapped over every subset of arguments",
    }


#: The plain interpreters run no rule on types alone.
ONLY_FAST = {"a rule that takes what is traced for something else"}


@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=pytest.mark.fast if fault in ONLY_FAST else ()) for fault in MULTIPLY_ADD_FAULTS],
)
def test_check_primitive_fault_is_found_and_small(fault: str) -> None:
    wrong, law = MULTIPLY_ADD_FAULTS[fault]
    # A rule is only run on tracers in place of values where it is said to be pure.
    primitive = multiply_add(pure_rules=law == "primitive_traced_rules", **wrong)
    report = check_primitive(primitive, x, y, z, effort=usual, laws=[law, "purity"])
    [failure] = [x for x in report.failures if x.law == law]
    assert failure.cases
    assert failure.reason
    assert elements_of(failure.counterexample) <= 3
    assert "multiply_add_p.bind(" in failure.counterexample or "vmap(multiply_add" in failure.counterexample


@pytest.mark.parametrize(
    ("wrong", "law", "text"),
    [
        ({"transpose": lambda call: lambda ct, x, *, n: [ct]}, "tangent_types", "cotangent f64[3], of a value f64[]"),
        ({"transpose": lambda call: lambda ct, x, *, n: [ct[0]]}, "vjp_transpose", "largest difference"),
        ({"batch": lambda call: lambda args, dims, *, n: (call(args[0], n), dims[0])}, "vmap_is_loop", ""),
    ],
    ids=["a forgotten sum", "the first in place of the sum", "a batch dimension that did not move"],
)
def test_check_primitive_fault_of_a_primitive_with_a_parameter(wrong: Any, law: str, text: str) -> None:
    report = check_primitive(spread(**wrong), np.array([1.0, 2.0]), n=3, effort=usual, laws=[law])
    [failure] = report.failures
    assert text in failure.reason
    assert elements_of(failure.counterexample) <= 5


@pytest.mark.once
def test_check_primitive_right_primitive_with_a_parameter_passes() -> None:
    assert check_primitive(spread(), np.array([1.0, 2.0]), n=3, effort=usual).ok


def test_check_primitive_declared_primitive_draws_its_own_calls() -> None:
    assert check_primitive(multiply_add(declared=True, jvp=lambda call: right_jvp), effort=quick).ok


def right_jvp(primals: Any, tangents: Any) -> Any:
    """The rule with symbolic zeros, as a declared primitive has it."""
    from lawful.core import Zero, get_aval, primitives_by_name

    call = primitives_by_name["multiply_add"].bind
    out = call(*primals)
    if all(type(t) is Zero for t in tangents):
        return out, Zero(get_aval(out).to_tangent_aval())
    a, b, c = map(instantiate_zeros, tangents)
    return out, call(a, primals[1], call(primals[0], b, c))


def test_check_primitive_shrinks_counterexample() -> None:
    """Hypothesis shrinks the counterexample of a primitive that declares its domain."""
    wrong, law = MULTIPLY_ADD_FAULTS["a missing term"]
    [failure] = check_primitive(multiply_add(declared=True, **wrong), effort=quick, laws=[law]).failures
    assert elements_of(failure.counterexample) <= 3


@pytest.mark.parametrize(
    ("slot", "definer", "law"),
    [
        ("impl", "def_impl", "jit_is_eager"),
        ("abstract_eval", "def_abstract_eval", "eval_jaxpr"),
        ("jvp", "def_jvp", "jvp_linear"),
        ("transpose", "def_transpose", "vjp_transpose"),
        ("batch", "def_batch", "vmap_is_loop"),
    ],
)
def test_check_primitive_names_missing_and_excuses_absent_rules(slot: str, definer: str, law: str) -> None:
    primitive = multiply_add()
    del primitive.rules[slot]
    report = check_primitive(primitive, x, y, z, effort=quick, laws=[law])
    [failure] = report.failures
    assert failure.missing_rule == f"multiply_add_p.{definer}"
    assert failure.reason.startswith("missing rule: ")
    assert f"{law}  MISSING RULE" in str(report)
    if slot not in ("impl", "abstract_eval"):
        primitive.declare_absent(slot, "it is not smooth")
        report = check_primitive(primitive, x, y, z, effort=quick, laws=[law])
        assert report.ok
        assert "it is not smooth" in report.laws[0].reason


def test_check_primitive_missing_rule_fails_only_its_laws() -> None:
    primitive = multiply_add()
    del primitive.rules["batch"]
    names = {failure.law for failure in check_primitive(primitive, x, y, z, effort=quick).failures}
    assert "vmap_is_loop" in names
    assert not names & {"jit_is_eager", "eval_jaxpr", "jvp_finite_differences", "vjp_transpose"}


def test_check_primitive_type_rule_refuses_and_impl_fails() -> None:
    def at_least_one(x: ShapedArray, y: ShapedArray, z: ShapedArray) -> ShapedArray:
        if 0 in x.shape:
            raise TypeError("multiply_add: expected elements, got none")
        return ShapedArray(x.shape, x.dtype)

    report = check_primitive(
        multiply_add(abstract_eval=lambda call: at_least_one), x, y, z, effort=quick, laws=["jvp_linear"]
    )
    assert report.ok
    assert any(
        "the function refuses them: TypeError: multiply_add: expected elements" in r.reason for r in report.refused
    )

    def raises(x: Any, y: Any, z: Any) -> Any:
        return np.add(np.multiply(x, y), z) + 0 * np.max(x)

    report = check_primitive(multiply_add(impl=lambda call: raises), x, y, z, effort=quick, laws=["eval_jaxpr"])
    [failure] = report.failures
    assert "raises ValueError: zero-size array" in failure.reason
    assert "(raises)" in failure.reason


def test_check_primitive_report_is_data_and_a_table() -> None:
    wrong, law = MULTIPLY_ADD_FAULTS["a wrong sign"]
    report = check_primitive(multiply_add(**wrong), x, y, z, effort=quick, laws=[law, "eval_jaxpr"])
    data = json.loads(json.dumps(report.to_json()))
    assert data["ok"] is False
    assert [entry["verdict"] for entry in data["laws"]] == ["passed", "failed"]
    lines = str(report).splitlines()
    assert lines[0] == "multiply_add(f64[2,3], f64[2,3], f64[2,3]) on lawful, quick: 1 passed, 1 FAILED"
    assert any(line.startswith("eval_jaxpr              passed ") for line in lines)
    assert "not applicable: compiled by other backends than numpy: it is evaluated by NumPy only" in lines
    assert repr(report).startswith("<Report of multiply_add(")
    with pytest.raises(LawViolation, match="got 1 that do not"):
        report.raise_if_failed()
    with pytest.raises(LawViolation, match=law):
        check_primitive(multiply_add(**wrong), x, y, z, effort=quick, laws=[law], raise_on_failure=True)


def test_check_primitive_several_results() -> None:
    primitive = Primitive("both", multiple_results=True)
    primitive.def_impl(lambda x: [np.sin(x), np.cos(x)])
    primitive.def_abstract_eval(lambda x: [ShapedArray(x.shape, x.dtype)] * 2)

    def jvp(primals: Any, tangents: Any) -> Any:
        sin, cos = primitive.bind(*primals)
        t = instantiate_zeros(tangents[0])
        return [sin, cos], [cos * t, -(sin * t)]

    primitive.def_jvp(jvp)
    primitive.def_batch(lambda args, dims: (primitive.bind(*args), [dims[0], dims[0]]))
    primitive.declare_absent("lowering", "it is evaluated by NumPy only")
    report = check_primitive(primitive, np.array([0.5, 1.0]), effort=quick)
    assert report.ok, str(report)


def bad(case: str) -> Report:
    if case == "function":
        return check_primitive(ops.sin, x)  # type: ignore[arg-type]
    if case == "primitive":
        return check(ops.sin_p, x)  # type: ignore[arg-type]
    if case == "no example":
        return check_primitive(multiply_add())
    if case == "not an array":
        return check_primitive(multiply_add(), x, y, "z")
    if case == "types":
        return check_primitive(multiply_add(), x, y, z[0])
    broken = multiply_add()
    broken.declaration = Declaration(sample=lambda choose: 1 / 0)  # type: ignore[arg-type, return-value]
    return check_primitive(broken)


def test_declaration_excluded_point_of_one_argument_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"functions of all arguments as points in `excluded`, got 0\.0"):
        Declaration(sample=sample, excluded=(Excluded(0.0, "a kink"),))


@pytest.mark.parametrize(
    ("case", "error", "text"),
    [
        (
            "function",
            ArgumentTypeError,
            "expected a primitive, got <function lawful.ops.sin>; a function is checked by",
        ),
        ("primitive", ArgumentTypeError, "expected a function, got the primitive sin_p; write check_primitive"),
        ("no example", ArgumentValueError, "which has no declaration to draw calls from, got none; give arrays"),
        ("not an array", NonArrayError, r"expected arrays or numbers as arguments, got 'z' at args\[2\]"),
        ("types", ArgumentValueError, "expected arguments that the type rule of multiply_add_p accepts"),
        ("declaration", ArgumentValueError, "to draw a call, got ZeroDivisionError: division by zero; mend `sample`"),
    ],
)
def test_check_primitive_mistake_is_explained(case: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        bad(case)
    assert str(caught.value).startswith(__file__)


def test_check_primitive_another_system_can_be_given() -> None:
    assert check_primitive(multiply_add(), x, y, z, system=lawful, effort=quick, laws=["jit_is_eager"]).ok
