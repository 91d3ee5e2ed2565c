"""``jax.scipy``: special functions, distributions, linear algebra and others, of lawful."""

import typing as _typing

from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.scipy import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(
        __name__,
        submodules=(
            *("cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse"),
            *("spatial", "special", "stats"),
        ),
    )
