"""``jax._src.compiler``, which ``import chex`` imports for ``chex.restrict_backends``.

That function replaces JAX's function that compiles. It is refused, so that it is not without effect unnoticed.
"""

from __future__ import annotations

from typing import NoReturn

from lawful.core import ArgumentValueError


def __getattr__(name: str) -> NoReturn:
    if name.startswith("backend_compile"):
        raise ArgumentValueError(
            f"jax._src.compiler.{name}: expected a public name of JAX, got an internal one; lawful compiles by jaxlib "
            "where a function of jit runs, for jax.default_backend()"
        )
    raise AttributeError(f"jax._src.compiler.{name} is left out: it is about how JAX is built")
