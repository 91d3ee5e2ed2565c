"""``jax._src.traceback_util``: which frames of a stack are the user's."""

from types import FrameType

from lawful.core import is_internal_file, register_internal_file

__all__ = ["api_boundary", "include_frame", "register_exclusion"]


def api_boundary[F](fun: F, **_: object) -> F:
    """Returns the function: errors name the user's line whatever the stack.

    >>> api_boundary(abs)
    <built-in function abs>
    """
    return fun


def register_exclusion(path: str) -> None:
    """Says that a file is not the user's: errors and equations name the line that calls it.

    >>> register_exclusion("/optimizers/rules.py")
    """
    register_internal_file(path)


def include_frame(f: FrameType) -> bool:
    """Whether a frame is the user's.

    >>> import sys
    >>> frame = eval("sys._getframe()", {"sys": sys, "__name__": "program"})
    >>> include_frame(frame)
    True
    """
    return not is_internal_file(f.f_code.co_filename, f.f_globals.get("__name__", ""))
