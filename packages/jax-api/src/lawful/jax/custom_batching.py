"""``jax.custom_batching``: functions with their own batching rules."""

import typing as _typing

from lawful import control_flow as _control_flow
from lawful import custom_rules as _custom_rules
from lawful.jax._support import custom_rules as _rules_of_arrays
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.custom_batching import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _rules_of_arrays, _custom_rules, _control_flow, wrap=_transforms)
