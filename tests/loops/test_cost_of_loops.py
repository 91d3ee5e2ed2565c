"""`cost` and `peak_memory` through loops and branches, beside the counts of XLA."""

from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import cost, peak_memory
from lawful.batching import vmap
from lawful.control_flow import cond, scan, while_loop
from lawful.custom_rules import custom_jvp
from lawful.staging import jit

W, H = np.ones((8, 8)), np.ones(8)


def body(h: Any, w: Any) -> Any:
    return lnp.tanh(w @ h)


@pytest.mark.parametrize("length", [1, 50])
def test_cost_scan_is_its_body_times_its_length(length: int) -> None:
    once = cost(body)(H, W).function
    found = cost(lambda h, w: scan(lambda h, _: (body(h, w), None), h, None, length=length)[0])(H, W)
    assert found.function.operations == length * once.operations == length * (2 * 64 + 8)
    assert found.gradient is not None
    assert found.gradient.operations >= 2 * length * 2 * 64


def test_cost_while_loop_counts_once_and_says_so() -> None:
    found = cost(lambda h: while_loop(lambda h: h[0] < 1.0, lambda h: body(h, W), h))(H).function
    assert 136 <= found.operations <= 140
    assert "a loop whose trip count is not known counts as one iteration" in str(found)


def test_cost_cond_is_the_most_expensive_branch() -> None:
    found = cost(lambda p, h: cond(p, lambda h: body(h, W), lambda h: h, h))(True, H).function
    assert 136 <= found.operations <= 137


def test_cost_custom_rules_and_batches() -> None:
    softened = custom_jvp(lambda x: lnp.sin(x))
    softened.defjvp(lambda primals, tangents: (softened(*primals), tangents[0] * lnp.cos(primals[0])))
    assert cost(softened)(H).function.operations == 8
    assert cost(vmap(body, in_axes=(0, None)))(np.ones((5, 8)), W).function.operations == 5 * 136


def test_cost_products_are_those_of_xla() -> None:
    backend = pytest.importorskip("lawful.xla_backend")
    assert backend is not None

    def product(a: Any, b: Any) -> Any:
        return a @ b

    a, b = np.ones((30, 40)), np.ones((40, 50))
    counted = jit(product, backend="cpu").lower(a, b).compile().cost_analysis()["flops"]
    assert cost(product)(a, b).function.operations == counted


def test_peak_memory_scan_stacks_its_residuals() -> None:
    def function(h: Any) -> Any:
        return scan(lambda h, _: (lnp.sin(h), None), h, None, length=100)[0]

    memory = peak_memory(function)(H)
    assert max(memory.residuals, key=lambda value: value.bytes).aval.shape == (100, 8)
