"""``jax._src.dtypes``: the error of dtypes without a common one."""

from lawful.core import ArgumentTypeError as TypePromotionError

__all__ = ["TypePromotionError"]
