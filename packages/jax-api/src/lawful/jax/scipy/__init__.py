"""``jax.scipy``: special functions, distributions, linear algebra and others, of lawful."""

from lawful.jax._support.namespaces.namespace import namespace as _namespace

__getattr__, __dir__ = _namespace(
    __name__,
    submodules=(
        *("cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse"),
        *("spatial", "special", "stats"),
    ),
)
