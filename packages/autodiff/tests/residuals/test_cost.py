"""`cost`: operations and bytes, by equation and by line, of a function and its gradient."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import Cost, cost
from lawful.core import ArgumentTypeError, NonArrayError
from lawful.staging import ShapeDtypeStruct, jit, pure_callback

X = np.ones((5, 3))


def of(f: Any, *args: Any) -> Cost:
    return cost(f, gradient=False)(*args).function


def test_cost_by_line_and_equation() -> None:
    def function(w: Any, x: Any) -> Any:
        h = ops.dot(x, w)  # product
        return ops.reduce_sum(ops.mul(ops.tanh(h), 2.0), (0, 1))  # sum

    found = of(function, np.ones((3, 4)), X)
    assert [(line.text.split("# ")[1], line.equations, line.operations) for line in found.lines] == [
        ("product", 1, 2 * 5 * 3 * 4), ("sum", 3, 3 * 20),
    ]  # fmt: skip
    assert found.lines[0].bytes == 8 * (12 + 15 + 20)
    assert [line.text.split(" = ")[1].split()[0] for line in found.equations] == [
        "dot_general",
        "tanh",
        "mul",
        "reduce_sum",
    ]
    assert found.operations == 180
    assert found.lines[0].intensity == 120 / (8 * 47)


def test_cost_gradient_of_a_product() -> None:
    found = cost(lambda w, x: ops.dot(x, w))(np.ones((3, 4)), X)
    assert found.gradient is not None
    products = [line.operations for line in found.gradient.equations if "dot_general" in line.text]
    assert products == [120] * 3
    assert found.ratio >= 3.0


def test_cost_without_gradient() -> None:
    found = cost(lambda n: ops.add(n, 1))(np.arange(3))
    assert found.gradient is None
    assert str(found) == str(found.function)
    assert str(found).endswith("\nno gradient: no argument is floating; give floats (1.0, not 1)")
    assert of(lambda n: ops.add(n, 1), np.arange(3)).notes == []


def test_cost_calls_are_entered_and_dead_code_is_none() -> None:
    def function(x: Any) -> Any:
        ops.exp(x)
        return ops.sin(x)

    assert of(function, X).operations == of(jit(jit(function)), X).operations == 15


def test_cost_of_types() -> None:
    assert of(ops.sin, ShapeDtypeStruct((1000, 1000), "float32")).bytes == 8_000_000


def test_cost_same_operand_counts_once() -> None:
    assert of(lambda x: ops.mul(x, x), X).bytes == 8 * (15 + 15)


def test_cost_unknown_primitive_is_named() -> None:
    found = of(lambda x: pure_callback(np.sin, x, ops.sin(x)), X)
    assert found.operations == 15
    assert "without the operations of pure_callback" in str(found)


@pytest.mark.parametrize(
    ("function", "shapes", "operations"),
    [
        (lambda x: ops.reduce_max(x, (1,)), [(5, 3)], 15),
        (lambda x: ops.cumsum(x, 1), [(5, 3)], 15),
        (lambda x: ops.reshape(x, (15,)), [(5, 3)], 0),
        (lambda x: ops.sort(x), [(5, 8)], 40 * 3),
        (lambda x: ops.cholesky(x, symmetrize_input=False), [(2, 6, 6)], 2 * 6**3 // 3),
        (lambda x: ops.fft(x, "RFFT", (8,)), [(4, 8)], 5 * 32 * 3 // 2),
        (lambda x, k: ops.conv_general_dilated(x, k, (1,), "VALID"), [(2, 3, 10), (4, 3, 5)], 2 * (2 * 4 * 6) * 15),
    ],
)
def test_cost_of_families(function: Any, shapes: list[Any], operations: int) -> None:
    assert of(function, *[ShapeDtypeStruct(shape, "float64") for shape in shapes]).operations == operations


def test_cost_needs_a_function() -> None:
    with pytest.raises(ArgumentTypeError, match="cost: expected a function"):
        cost(1.0)  # type: ignore[arg-type]


def test_cost_names_itself_in_errors_of_arguments() -> None:
    with pytest.raises(NonArrayError, match="cost of sin: expected arrays or numbers as arguments, got 'x'"):
        cost(ops.sin)("x")


def test_cost_ratio_to_no_operations_is_not_shown() -> None:
    assert "×" in str(cost(ops.sin)(1.0))
    assert "×" not in str(cost(lambda x: x)(1.0))


def test_cost_attributes_of_one_program_are_found() -> None:
    costs = cost(ops.sin)(1.0)
    with pytest.raises(AttributeError, match=r"no attribute 'lines'; write costs\.function\.lines or costs\.gradient"):
        costs.lines  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'plot'$"):
        costs.plot()  # type: ignore[attr-defined]
    with pytest.raises(ArgumentTypeError, match=r"text: expected a sequence of CostLine, got 3; write cost\.text\("):
        costs.function.text(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"text: .*most.*'3'"):
        costs.function.text([], most="3")  # type: ignore[arg-type]
