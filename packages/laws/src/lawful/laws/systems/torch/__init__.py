"""PyTorch's ``torch.func`` as a system that laws can be held against, with what the text of a program imports.

Floating arrays become tensors of 64 bits; PyTorch's default dtype stays what it is.

    from lawful.laws import Case, law_vjp_transpose
    from lawful.laws.systems.torch import ops, system
    law_vjp_transpose(system, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
"""

from lawful.laws.systems.torch._functions import ops
from lawful.laws.systems.torch._system import (
    Torch,
    array,
    grad,
    jvp,
    stop_gradient,
    system,
    value_and_grad,
    vjp,
    vmap,
)

__all__ = [
    "Torch",
    "array",
    "grad",
    "jvp",
    "ops",
    "stop_gradient",
    "system",
    "value_and_grad",
    "vjp",
    "vmap",
]
