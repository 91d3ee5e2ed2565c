"""JAX's public modules over lawful: a JAX program changes its imports, and nothing else.

>>> import lawful.jax as jax
>>> import lawful.jax.numpy as jnp
>>> from lawful.jax import lax, random
>>> jax.grad(lambda x: jnp.sum(x**2))(jnp.arange(3.0))
Array([0., 2., 4.], dtype=float64)

It has names only: what computes is in the other packages of lawful. Eager results are `Array`s, which are NumPy
arrays with what a ``jax.Array`` has beyond them. The page docs/coming_from_jax.md says what differs.
"""

import typing as _typing

from lawful.core import register_internal_module as _register_internal_module

_register_internal_module(__name__)

from lawful import autodiff as _autodiff  # noqa: E402
from lawful import batching as _batching  # noqa: E402
from lawful import custom_rules as _custom_rules  # noqa: E402
from lawful import staging as _staging  # noqa: E402
from lawful.jax import (  # noqa: E402
    dtypes,
    errors,
    lax,
    nn,
    numpy,
    ops,
    random,
    tree,
    tree_util,
    typing,
)
from lawful.jax._support import custom_rules as _rules_of_arrays  # noqa: E402
from lawful.jax._support import general as _general  # noqa: E402
from lawful.jax._support import jit as _jit  # noqa: E402
from lawful.jax._support import switches as _switches  # noqa: E402
from lawful.jax._support.array import Array  # noqa: E402
from lawful.jax._support.config import config  # noqa: E402
from lawful.jax._support.namespaces.namespace import namespace as _namespace  # noqa: E402
from lawful.jax._support.namespaces.wrapping import transforms as _transforms  # noqa: E402
from lawful.jax._support.numpy import array_methods as _array_methods  # noqa: E402, F401
from lawful.jax.version import __version__ as __version__  # noqa: E402
from lawful.jax.version import __version_info__ as __version_info__  # noqa: E402

if _typing.TYPE_CHECKING:
    from lawful.autodiff import checkpoint as checkpoint
    from lawful.autodiff import grad as grad
    from lawful.autodiff import hessian as hessian
    from lawful.autodiff import jacfwd as jacfwd
    from lawful.autodiff import jacrev as jacrev
    from lawful.autodiff import jvp as jvp
    from lawful.autodiff import linearize as linearize
    from lawful.autodiff import value_and_grad as value_and_grad
    from lawful.autodiff import vjp as vjp
    from lawful.batching import vmap as vmap
    from lawful.custom_rules import custom_jvp as custom_jvp
    from lawful.custom_rules import custom_vjp as custom_vjp
    from lawful.jax._typed.jax import *  # noqa: F403
    from lawful.staging import eval_shape as eval_shape
    from lawful.staging import jit as jit
    from lawful.staging import make_jaxpr as make_jaxpr
else:
    __getattr__, __dir__ = _namespace(
        __name__,
        _general,
        _jit,
        _switches,
        _autodiff,
        _batching,
        _rules_of_arrays,
        _custom_rules,
        _staging,
        "lawful.jax._support.sharding",
        "lawful.jax._support.sharded_arrays",
        submodules=(
            *(
                "ad_checkpoint",
                "api_util",
                "core",
                "custom_batching",
                "custom_derivatives",
                "debug",
                "distributed",
                "dlpack",
                "example_libraries",
            ),
            *(
                "experimental",
                "extend",
                "flatten_util",
                "image",
                "interpreters",
                "scipy",
                "sharding",
                "stages",
                "test_util",
                "version",
            ),
        ),
        wrap=_transforms,
    )

__all__ = [
    "Array",
    "config",
    "dtypes",
    "errors",
    "lax",
    "nn",
    "numpy",
    "ops",
    "random",
    "tree",
    "tree_util",
    "typing",
]
