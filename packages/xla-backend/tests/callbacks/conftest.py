"""A program that is one call of a Python function."""

import pytest

from ._primitives import python_p


@pytest.fixture
def compiled_call(compile_program):
    """Compiles a program that is one call of a Python function."""

    def compiled_call(function, *avals, out, primitive=python_p, **options):
        def build(record, *xs):
            return record(primitive, *xs, out=list(out), function=function)

        return compile_program(build, *avals, **options)

    return compiled_call
