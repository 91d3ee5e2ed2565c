"""`blame_nan`: which equation made the NaN, or the infinity, that reaches a result."""

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, NonArrayError, Primitive, ShapedArray
from lawful.debug import Blame, blame_nan
from lawful.staging import ShapeDtypeStruct, jit, make_jaxpr

X = np.array([1.0, -2.0, 3.0])


def found(blame: Blame | None) -> Blame:
    assert blame is not None
    return blame


def log_of_root(x: object) -> object:
    root = ops.sqrt(x)  # here
    return ops.add(ops.log(root), 1.0)


def line_of(text: str) -> int:
    with open(__file__) as file:
        [line] = [number for number, line in enumerate(file, 1) if line.rstrip().endswith(text)]
    return line


@pytest.mark.parametrize("function", [log_of_root, jit(log_of_root), jit(jit(log_of_root), backend="numpy")])
def test_blame_nan_names_equation_line_and_element(function: object) -> None:
    blame = found(blame_nan(function)(X))  # type: ignore[arg-type]
    assert (blame.kind, blame.primitive, blame.index, blame.result_name) == ("NaN", "sqrt", (1,), "result")
    assert blame.source is not None
    assert (blame.source.function, blame.source.line) == ("log_of_root", line_of("  # here"))
    assert np.array_equal(blame.operands[0], X)
    assert "sqrt -2.0 = nan, element [1] of f64[3] with 1 NaN of 3 elements" in str(blame)
    assert "root = ops.sqrt(x)" in str(blame)


def test_blame_nan_of_finite_results_is_none() -> None:
    assert blame_nan(log_of_root)(np.array([1.0, 2.0])) is None
    assert blame_nan(lambda: 1)() is None


def test_blame_nan_infinity_where_no_result_is_nan() -> None:
    blame = found(blame_nan(lambda x: {"a": x, "b": ops.div(1.0, x)})(np.array([1.0, 0.0])))
    assert (blame.kind, blame.primitive, blame.index, blame.result_name) == ("infinity", "div", (1,), "result['b']")


def test_blame_nan_follows_the_infinity_to_its_cause() -> None:
    blame = found(blame_nan(lambda x: ops.sub(ops.log(x), ops.log(x)))(0.0))
    assert (blame.primitive, found(blame.cause).primitive) == ("sub", "log")
    assert "sub -inf -inf = nan" in str(blame)


PREDICATES = [
    lambda x: ops.gt(ops.log(x), np.zeros(3)),
    lambda x: ops.ne(ops.log(x), ops.log(x)),
    lambda x: ops.argmax(ops.log(x), 0, np.int64),
    lambda x: ops.convert_element_type(ops.log(x), np.int32),
    lambda x: (x, ops.gt(ops.log(x), np.zeros(3))),
    lambda x: ops.gt(ops.div(1.0, ops.sub(x, 1.0)), np.zeros(3)),
]


@pytest.mark.parametrize("function", PREDICATES)
@pytest.mark.parametrize("staged", [lambda f: f, jit, lambda f: jit(f, backend="numpy")])
def test_blame_nan_predicates_and_indices_are_finite(function: object, staged: object) -> None:
    """A NaN or an infinity that decided a Boolean or an integer is in no floating-point result."""
    assert blame_nan(staged(function))(X) is None  # type: ignore[operator]


def test_blame_nan_names_the_floating_result() -> None:
    def function(x: object) -> object:
        return ops.gt(ops.log(x), np.zeros(3)), ops.sqrt(x)

    blame = found(blame_nan(function)(X))
    assert (blame.primitive, blame.result_name) == ("sqrt", "result[1]")


def test_blame_nan_names_the_argument_that_is_nan() -> None:
    def scaled(params: dict[str, object], x: object) -> object:
        return ops.mul(params["w"], x)

    blame = found(blame_nan(scaled)({"w": np.array([1.0, np.nan])}, 2.0))
    assert (blame.given, blame.primitive, blame.index) == ("the argument params['w']", "", (1,))


def test_blame_nan_ignores_a_nan_that_no_result_holds() -> None:
    def guarded(x: object) -> object:
        return ops.select_n(ops.gt(x, np.zeros(3)), np.zeros(3), ops.log(x))

    assert blame_nan(guarded)(X) is None
    assert found(blame_nan(guarded, discarded=True)(X)).primitive == "log"


def test_blame_nan_elements_of_one_position_only() -> None:
    """The NaN of an operand at another position, which is replaced, did not make this one."""

    def function(x: object) -> object:
        return ops.select_n(np.array([False, True, True]), ops.sqrt(x), np.array([1.0, 2.0, np.nan]))

    assert found(blame_nan(function)(X)).primitive == "select_n"


@pytest.mark.parametrize("chosen", [False, True])
def test_blame_nan_of_two_operands_the_one_that_is_chosen(chosen: bool) -> None:
    def function(x: object) -> object:
        return ops.select_n(np.full(3, chosen), ops.sqrt(x), ops.log(x))

    assert found(blame_nan(function)(X)).primitive == ("log" if chosen else "sqrt")


def test_blame_nan_of_two_operands_the_oldest() -> None:
    assert found(blame_nan(lambda x: ops.add(ops.log(x), ops.sqrt(x)))(X)).primitive == "log"


def test_blame_nan_of_a_constant_names_who_takes_it() -> None:
    blame = found(blame_nan(lambda x: ops.add(x, np.array([1.0, np.nan, 1.0])))(X))
    assert (blame.primitive, blame.index) == ("add", (1,))
    assert "a constant of the program" in blame.note


def test_blame_nan_of_what_numpy_computed() -> None:
    with np.errstate(invalid="ignore"):
        blame = blame_nan(lambda x: np.log(np.asarray(x)))(np.array([-1.0]))
    assert str(found(blame)) == "NaN in result was given: a constant, or a result of NumPy's own operations, f64[1] nan"


def test_blame_nan_of_a_choice_by_a_predicate_of_nan() -> None:
    """A rule that returns the constant NaN where ``x != x`` did not make it."""

    def function(x: object) -> object:
        root = ops.sqrt(x)
        return ops.select_n(ops.ne(root, root), np.zeros(3), np.full(3, np.nan))

    assert found(blame_nan(function)(X)).primitive == "sqrt"


def test_blame_nan_python_control_flow_and_conversions() -> None:
    def function(x: object, n: int) -> object:
        for _ in range(n):
            x = ops.sub(x, 1.0) if x > 0.5 else ops.log(x)  # type: ignore[operator]
        assert isinstance(float(x), float)  # type: ignore[arg-type]
        return ops.add(x, np.asarray(x) * 0.0)

    assert found(blame_nan(function)(2.0, 4)).primitive == "log"


def test_blame_nan_half_precision() -> None:
    x = ops.convert_element_type(X, "bfloat16")
    assert found(blame_nan(ops.log)(x)).index == (1,)


def test_blame_nan_operands_are_snapshots() -> None:
    x = X.copy()
    blame = found(blame_nan(ops.log)(x))
    x[:] = 0.0
    assert blame.operands[0][1] == -2.0


def test_blame_nan_within_a_transformation_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected to be called outside of transformations, got a call within"):
        make_jaxpr(lambda x: blame_nan(ops.log)(x))(1.0)
    with pytest.raises(ArgumentTypeError, match=r"apply blame_nan last, as in blame_nan\(jit\(grad\(f\)\)\)\(x\)"):
        blame_nan(lambda x: blame_nan(ops.log)(x))(1.0)


def test_blame_nan_leaves_nothing_behind() -> None:
    before = ops.log(2.0), jit(ops.log)(2.0)
    with pytest.raises(ZeroDivisionError):
        blame_nan(lambda x: x / 0 if x is None else 1 // 0)(1.0)
    assert (ops.log(2.0), jit(ops.log)(2.0)) == before
    assert type(ops.log(np.ones(2))) is np.ndarray


def test_blame_nan_evaluates_an_equation_twice_at_most() -> None:
    """The results of a loop are one equation with as many operands as iterations, each of which may bring the NaN."""
    calls: list[int] = []
    joined_p = Primitive("joined")
    joined_p.def_impl(lambda *xs: calls.append(len(xs)) or np.stack(xs))
    joined_p.def_abstract_eval(lambda *xs: ShapedArray((len(xs), *xs[0].shape), xs[0].dtype))
    blame = blame_nan(lambda xs: joined_p.bind(*[ops.log(x) for x in xs]))([np.float64(-i) for i in range(200)])
    assert blame is not None
    assert (blame.primitive, blame.operands) == ("log", (-1.0,))
    assert calls == [200, 200]


def test_blame_nan_refuses_what_has_no_values() -> None:
    with pytest.raises(
        ArgumentTypeError, match=r"blame_nan of sin: expected arrays with values, .* at argument 0; give"
    ):
        blame_nan(ops.sin)(ShapeDtypeStruct((3,), "float64"))
    with pytest.raises(ArgumentTypeError, match=r"blame_nan of sin: argument 0\['a'\]: dtype: .* got object; convert"):
        blame_nan(ops.sin)({"a": np.array([None])})
    for lazy in (lambda x: iter([x]), lambda x: {"a": (ops.log(each) for each in x)}):
        with pytest.raises(
            NonArrayError, match=r"expected a function that returns arrays .* nothing was computed; return"
        ):
            blame_nan(lazy)(X)
