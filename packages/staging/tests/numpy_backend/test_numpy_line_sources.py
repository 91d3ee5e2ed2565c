"""The user's lines of the lines of a program of the NumPy backend."""

import re

import numpy as np

from lawful import ops
from lawful.core import SourceLine
from lawful.staging import make_jaxpr, numpy_backend


def f(x: object) -> object:
    y = ops.sin(x)
    z = ops.mul(y, x)
    return ops.add(ops.exp(z), y)


def test_numpy_line_sources_are_the_users_lines() -> None:
    program = numpy_backend.lower(make_jaxpr(f)(np.ones(3)), name="f")
    lines = program.as_text().splitlines()
    sources = program.line_sources()
    assert len(lines) == len(sources)
    first = f.__code__.co_firstlineno
    expected = {"sin": first + 1, "mul": first + 2, "exp": first + 3, "add": first + 3}
    found = [(re.search(r"(\w+)_\d+\(", line), source) for line, source in zip(lines, sources, strict=True)]
    assert {call[1]: source.line for call, source in found if call and source} == expected
    assert sources[0] is None
    assert sources[-1] is None


def test_numpy_line_sources_of_a_program_in_parts() -> None:
    def chain(x: object) -> object:
        for _ in range(1500):
            x = ops.sin(ops.add(x, 1.0))
        return x

    closed = make_jaxpr(chain)(np.ones(3))
    for number, eqn in enumerate(closed.eqns):
        eqn.source = SourceLine(compile("", f"equation {number}", "exec"), 0)
    program = numpy_backend.lower(closed, name="chain")
    lines = program.as_text().splitlines()
    assert sum(line.startswith("def ") for line in lines) > 2
    numbers = [
        int(source.file.removeprefix("equation ")) if source else None for source in program.line_sources()
    ]  # fmt: skip
    calls = {"sin_": 1, "add_": 0}
    for line, number in zip(lines, numbers, strict=True):
        call = next((name for name in calls if f"= {name}" in line), None)
        assert (number is None) == (call is None and "= None" not in line), line
        assert call is None or number is None or number % 2 == calls[call]
    assert sorted({number for number in numbers if number is not None}) == list(range(3000))
