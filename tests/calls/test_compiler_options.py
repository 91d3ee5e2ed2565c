"""Options of XLA that ``jit`` is given belong to each program that is derived of the function."""

from typing import Any

import numpy as np
import pytest

from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.staging import jit
from lawful.xla_backend import XlaError


def test_jit_compiler_options_reach_derived_programs() -> None:
    options = {"xla_disable_hlo_passes": "fusion"}

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * np.cos(x))

    split = jit(f, compiler_options=options)
    x = np.arange(8.0)
    np.testing.assert_allclose(split(x), f(x))
    np.testing.assert_allclose(grad(split)(x), np.cos(2 * x), atol=1e-15)
    assert jit(f).lower(x).compile().as_text() != split.lower(x).compile().as_text()
    refused = jit(f, compiler_options={"no_such_option": True})
    for call in (refused, grad(refused), vmap(grad(lambda x: refused(x * x))), lambda x: refused.lower(x).compile()):
        with pytest.raises(XlaError, match="no_such_option"):
            call(x)
    level = "xla_backend_optimization_level"
    replaced = jit(f, compiler_options={level: "high"}).lower(x).compile({level: 1})
    np.testing.assert_allclose(replaced(x), f(x))
