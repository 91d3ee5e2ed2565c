"""The names that `lawful.jax.nn` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.jax.nn import initializers as initializers

celu: Callable[..., Any]
dot_product_attention: Callable[..., Any]
elu: Callable[..., Any]
gelu: Callable[..., Any]
glu: Callable[..., Any]
hard_sigmoid: Callable[..., Any]
hard_silu: Callable[..., Any]
hard_swish: Callable[..., Any]
hard_tanh: Callable[..., Any]
identity: Callable[..., Any]
leaky_relu: Callable[..., Any]
log1mexp: Callable[..., Any]
log_sigmoid: Callable[..., Any]
log_softmax: Callable[..., Any]
logmeanexp: Callable[..., Any]
logsumexp: Callable[..., Any]
mish: Callable[..., Any]
one_hot: Callable[..., Any]
relu: Callable[..., Any]
relu6: Callable[..., Any]
selu: Callable[..., Any]
sigmoid: Callable[..., Any]
silu: Callable[..., Any]
soft_sign: Callable[..., Any]
softmax: Callable[..., Any]
softplus: Callable[..., Any]
sparse_plus: Callable[..., Any]
sparse_sigmoid: Callable[..., Any]
squareplus: Callable[..., Any]
standardize: Callable[..., Any]
swish: Callable[..., Any]
tanh: Callable[..., Any]
