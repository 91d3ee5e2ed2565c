"""``jax.experimental.layout``: a sharding with an order of memory, which is always the compiler's."""

from typing import Any

from lawful.core import ArgumentValueError


class Format:
    """A sharding, with no layout beside it: the compiler chooses how arrays lie in memory.

    Args:
      layout: None.
      sharding: the sharding, or None.

    Raises:
      ArgumentValueError: a layout is given.

    >>> Format(None, "sharding of rows").sharding
    'sharding of rows'
    """

    def __init__(self, layout: None = None, sharding: Any = None) -> None:
        if layout is not None:
            raise ArgumentValueError(f"Format: expected no layout, got {layout!r}; the compiler chooses")
        self.layout = layout
        self.sharding = sharding


__all__ = ["Format"]
