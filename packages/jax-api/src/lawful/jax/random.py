"""``jax.random``: `lawful.random` with JAX's eager arrays. Keys are arrays of two words, as ``PRNGKey`` gives.

>>> from lawful.jax import random
>>> random.split(random.key(0)).shape
(2, 2)
"""

import typing as _typing

from lawful import random as _random
from lawful.jax._support import random as _adapted
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.random import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _adapted, _random)
