"""``jax.extend.core.primitives``: the primitives of lawful by JAX's names."""

import typing as _typing

from lawful import autodiff as _autodiff
from lawful import batching as _batching
from lawful import control_flow as _control_flow
from lawful import custom_rules as _custom_rules
from lawful import ops as _ops
from lawful import staging as _staging
from lawful.jax._support.namespaces.namespace import namespace as _namespace

if _typing.TYPE_CHECKING:
    from lawful.jax._typed.extend_core_primitives import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(
        __name__,
        *(_ops, _control_flow, _batching, _autodiff, _custom_rules, _staging, "lawful.jax._support.sharding"),
        "lawful.jax._support.lax.primitives",
        renamed={"remat_p": "checkpoint_p"},
        wrap=None,
    )
