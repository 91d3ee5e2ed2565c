"""``jax.custom_derivatives``: functions with their own derivative rules."""

import typing as _typing

from lawful import custom_rules as _custom_rules
from lawful.jax._support import custom_rules as _rules_of_arrays
from lawful.jax._support import general as _general
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.custom_derivatives import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _general, _rules_of_arrays, _custom_rules, wrap=_transforms)
