"""`peak_memory`: which values are alive when, and which residuals are kept and why."""

import importlib.util
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, cost, peak_memory, saved_residuals
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.staging import ShapeDtypeStruct, jit

X = np.ones(1000)
KB = 8000


def chain(x: Any) -> Any:
    for _ in range(4):
        x = ops.sin(x)
    return x


def test_peak_memory_without_gradient() -> None:
    memory = peak_memory(chain, gradient=False)(X)
    # The argument, the value before and the value after.
    assert memory.timeline == [KB, 2 * KB, 3 * KB, 3 * KB, 3 * KB]
    assert (memory.peak, memory.peak_step, memory.backward, memory.residuals) == (3 * KB, 2, None, [])
    assert [value.kind for value in memory.values] == ["argument", "value", "value", "value", "result"]
    assert [(value.first, value.last) for value in memory.values] == [(0, 4), (1, 2), (2, 3), (3, 4), (4, 4)]


def test_peak_memory_of_integers_has_no_gradient() -> None:
    memory = peak_memory(lambda n: ops.add(n, 1))(np.arange(3))
    assert memory.name == "<lambda>, without a gradient as no argument is floating"


def test_peak_memory_residuals_are_the_saved_ones() -> None:
    def loss(params: Any, x: Any) -> Any:
        for w in params:
            x = ops.tanh(ops.dot(w, x))
        return ops.reduce_sum(ops.mul(x, x), (0,))

    args = [np.ones((4, 3)), np.ones((2, 4))], np.ones(3)
    for function in (loss, checkpoint(loss), jit(loss)):
        found = sorted((str(value.aval), value.origin) for value in peak_memory(function)(*args).residuals)
        assert found == sorted((str(aval), origin) for aval, origin in saved_residuals(function, *args))


def test_peak_memory_grows_by_residuals_and_falls() -> None:
    memory = peak_memory(chain)(X)
    assert memory.backward is not None
    held = [sum(v.bytes for v in memory.residuals if v.first <= step <= v.last) for step in range(len(memory.timeline))]
    assert held[memory.backward - 1] == 4 * KB
    assert held[-1] == KB
    assert all(value.origin.startswith("output of cos at ") for value in memory.residuals)
    assert all(value.used.startswith("mul at ") for value in memory.residuals)


def test_peak_memory_checkpoint_needs_less() -> None:
    assert len(peak_memory(checkpoint(chain))(X).residuals) == 1


def test_peak_memory_inside_calls_counts() -> None:
    inside, outside = peak_memory(jit(chain), gradient=False)(X), peak_memory(chain, gradient=False)(X)
    assert inside.peak >= outside.peak
    assert "within the loop or call of this step" in str(inside)


def test_peak_memory_names_what_is_alive() -> None:
    text = str(peak_memory(lambda params: ops.sin(params["w"]))({"w": X}))
    assert "peak memory of the gradient of <lambda>: " in text
    assert "the argument params['w']" in text
    assert "residuals of the backward pass: 8.00 kB besides arguments, constants and results" in text


def test_peak_memory_of_types() -> None:
    assert peak_memory(chain, gradient=False)(ShapeDtypeStruct((1000,), "float32")).peak == 12_000


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="matplotlib draws the picture")
def test_peak_memory_plot(tmp_path: Path) -> None:
    memory = peak_memory(chain)(X)
    figure = memory.plot(tmp_path / "memory.png")
    assert (tmp_path / "memory.png").stat().st_size > 5000
    [axes] = figure.axes
    assert axes.get_title() == "Memory of the gradient of chain"
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {
        "arguments",
        "residuals",
        "results",
        "values",
    }
    tops = axes.collections[-1].get_paths()[0].vertices[:, 1]
    assert tops.max() == pytest.approx(memory.peak / 1000)


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="matplotlib draws the picture")
def test_peak_memory_plot_without_bytes() -> None:
    [axes] = peak_memory(lambda: ())().plot().axes
    assert axes.get_title().startswith("Memory of <lambda>")
    assert axes.get_legend() is None


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="matplotlib draws the picture")
def test_peak_memory_plot_counts_whole_equations() -> None:
    def sines(x: Any) -> Any:
        for _ in range(6):
            x = ops.sin(x)
        return ops.reduce_sum(x, (0,))

    [axes] = peak_memory(sines)(X).plot().axes
    assert all(float(step).is_integer() for step in axes.get_xticks())


@pytest.mark.parametrize("function", [lambda x: x, lambda x: 1.0, lambda x: {"a": x, "b": [x]}])
def test_peak_memory_without_equations(function: Any) -> None:
    for x in (1.0, np.ones(2)):
        memory = peak_memory(function)(x)
        assert memory.residuals == []
        assert "peak memory of the gradient of <lambda>" in str(memory)


def square_of_sines(x: Any) -> Any:
    y = ops.sin(x)
    z = ops.mul(ops.reshape(y, (-1, 1)), ops.reshape(y, (1, -1)))
    return ops.reduce_sum(ops.matmul(z, z), axes=(0, 1))


def test_peak_memory_within_a_call_names_its_equation() -> None:
    memory = peak_memory(jit(jit(square_of_sines)), gradient=False)(np.ones(50))
    assert memory.within[memory.peak_step].startswith("mul at ")
    assert "within the loop or call of this step, at mul at " in str(memory)
    assert memory.within[0] == ""
    assert peak_memory(chain)(X).within == [""] * len(peak_memory(chain)(X).steps)


def test_peak_memory_residuals_of_a_call_name_its_equation() -> None:
    inside = peak_memory(jit(square_of_sines))(np.ones(50)).residuals
    outside = peak_memory(square_of_sines)(np.ones(50)).residuals
    assert [value.used for value in inside] == [value.used for value in outside]


@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_peak_memory_is_linear_in_the_equations(wrap: Any) -> None:
    def long(count: int) -> Any:
        def function(x: Any) -> Any:
            for _ in range(count):
                x = ops.sin(x)
            return x

        return function

    def seconds(count: int) -> float:
        start = process_time()
        peak_memory(wrap(long(count)))(1.0)
        return process_time() - start

    seconds(100)
    assert seconds(4000) < 24 * seconds(500)


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="matplotlib draws the picture")
def test_peak_memory_plot_refuses_what_is_no_file(tmp_path: Path) -> None:
    memory = peak_memory(chain)(X)
    with pytest.raises(ArgumentTypeError, match=r"plot: expected a path or None, got 3 of type int; .* 'memory\.png'"):
        memory.plot(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentValueError, match=r"plot: expected a file of one of the formats .*png.*, got 'a\.text'"):
        memory.plot("a.text")
    for path in ("", tmp_path, tmp_path / "missing" / "memory.png"):
        with pytest.raises(ArgumentValueError, match="plot: expected the path of a file in a folder that exists, got"):
            memory.plot(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", [cost, peak_memory])
def test_analysis_gradient_is_true_or_false(tool: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected True or False as gradient, got 'no'; pass one of them"):
        tool(chain, gradient="no")
