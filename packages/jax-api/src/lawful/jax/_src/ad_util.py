"""``jax._src.ad_util``: the primitive of ``stop_gradient``."""

from lawful.autodiff import stop_gradient_p

__all__ = ["stop_gradient_p"]
