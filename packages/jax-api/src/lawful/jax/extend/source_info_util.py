"""``jax.extend.source_info_util``: whose files are not the user's."""

from lawful.jax._src.traceback_util import register_exclusion

__all__ = ["register_exclusion"]
