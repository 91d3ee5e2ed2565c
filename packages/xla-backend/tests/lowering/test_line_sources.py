"""The user's lines of the lines of a program in StableHLO."""

import numpy as np
import pytest

from lawful import ops
from lawful.staging import get_backend, jit, make_jaxpr


@jit
def inner(x: object) -> object:
    return ops.cos(x)


def f(x: object) -> object:
    y = ops.sin(x)
    z = inner(y)
    return ops.reduce_sum(ops.mul(z, x), (0,))


@pytest.mark.parametrize("name", ["xla", "cpu"])
def test_line_sources_are_the_users_lines(name: str) -> None:
    program = get_backend(name).lower(make_jaxpr(f)(np.ones(3)), name="f")
    lines = program.as_text().splitlines()
    sources = program.line_sources()  # type: ignore[attr-defined]
    assert len(lines) == len(sources)
    first = f.__code__.co_firstlineno
    expected = {
        "stablehlo.sine": first + 1, "call @inner": first + 2, "stablehlo.multiply": first + 3,
        "stablehlo.reduce": first + 3, "stablehlo.cosine": inner.__wrapped__.__code__.co_firstlineno + 2,
    }  # fmt: skip
    for operation, line in expected.items():
        (source,) = [source for text, source in zip(lines, sources, strict=True) if operation in text]
        assert (None if source is None else source.line) == (line if name == "xla" else None)
    assert sources[0] is None
    program.compile()  # the module is as it was


def test_line_sources_of_operations_with_regions() -> None:
    def sorted_rows(x: object) -> object:
        return ops.sort(x)

    program = get_backend("xla").lower(make_jaxpr(sorted_rows)(np.ones(3)), name="f")
    lines = program.as_text().splitlines()
    found = dict(zip(lines, program.line_sources(), strict=True))  # type: ignore[attr-defined]
    (start,) = [line for line in lines if "stablehlo.sort" in line]
    assert start.endswith("({")
    source = found[start]
    assert source is not None
    assert source.line == sorted_rows.__code__.co_firstlineno + 1
