"""64-bit types in jax, as NumPy and lawful have them."""

from typing import Any

import jax
import pytest


@pytest.fixture(autouse=True)
def _jax_has_64_bit_types() -> Any:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
