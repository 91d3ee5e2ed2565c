"""Names of the functions that the user's line calls, for messages of errors."""

from __future__ import annotations

import linecache
import sys
from opcode import opname
from types import FrameType

from lawful.tree.base.source import ARRAY_LIBRARIES, is_internal_file

# The names of the instructions of `a[i] = x` and `a[x]`, in the supported versions of Python.
_SUBSCRIPTS = {
    **dict.fromkeys(["STORE_SUBSCR", "STORE_SLICE"], "assignment"),
    **dict.fromkeys(["BINARY_SUBSCR", "BINARY_SLICE", "BINARY_OP []"], "index"),
}


def numpy_caller(depth: int = 1) -> str | None:
    """Returns the function of NumPy, SciPy or pandas that the user called, or what the caller's line does.

    Else it is ``"assignment"`` (``a[i] = x``), ``"index"``, or None, as for a function in C.

    Args:
      depth: how many frames of the caller are known to be of none of these.

    >>> class Row:
    ...     def __getitem__(self, i):
    ...         return numpy_caller()
    >>> Row()[0]
    'index'
    """
    frame: FrameType | None = sys._getframe(depth + 1)
    name = None
    while frame is not None:
        library, *modules = frame.f_globals.get("__name__", "").split(".")
        if library not in ARRAY_LIBRARIES:
            break
        # `scipy.integrate` of `scipy.integrate._ivp.ivp`; NumPy and pandas have most functions at the top.
        public = modules[:1] if library == "scipy" and modules and not modules[0].startswith("_") else []
        function = frame.f_code.co_qualname.partition(".")[0]
        if name is None or not function.startswith("_"):
            name = ".".join([library, *public, function])
        frame = frame.f_back
    if name is not None:
        return name
    return None if frame is None else _SUBSCRIPTS.get(_instruction(frame))


def _instruction(frame: FrameType) -> str:
    """Returns the name of the instruction that runs; an operator of two operands also has its sign, as ``[]``."""
    from dis import get_instructions  # imported late: it is for messages of errors alone

    *_, found = [found for found in get_instructions(frame.f_code) if found.offset <= frame.f_lasti]  # or in its caches
    return f"{found.opname} {found.argrepr}" if found.opname == "BINARY_OP" else found.opname


def called_function(depth: int = 1) -> str | None:
    """Returns the name of the compiled function that a line calls, such as ``"numpy.float64"``; None if unknown.

    Args:
      depth: how many frames up the line is.

    The name is found by the text of the program, so there is none where that is not in a file.

    >>> list(map(lambda _: called_function(), range(2)))
    ['list', 'list']
    """
    frame = sys._getframe(depth + 1)
    code, instruction = frame.f_code, frame.f_lasti
    if not opname[code.co_code[instruction]].startswith("CALL"):
        return None
    position = list(code.co_positions())[instruction // 2]
    text = _text_at(code.co_filename, *position)
    path = text.partition("(")[0].strip()
    if path.endswith("__array__") or not all(name.isidentifier() for name in path.split(".")):
        return None
    first, *names = path.split(".")
    found = frame.f_locals.get(first, frame.f_globals.get(first))
    for name in names:
        found = getattr(found, name, None)
    # Not by `__module__`, which a ufunc has since NumPy 2.2 only.
    public = str(getattr(found, "__name__", ""))
    is_of_numpy = "numpy" in sys.modules and found is not None and vars(sys.modules["numpy"]).get(public) is found
    return f"numpy.{public}" if is_of_numpy else path


def _text_at(file: str, line: int | None, end_line: int | None, column: int | None, end_column: int | None) -> str:
    """Returns a part of a file; columns count bytes of UTF-8."""
    if line is None or end_line is None or column is None or end_column is None:
        return ""
    lines = [linecache.getline(file, i).encode() for i in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b"".join(lines).decode()


def public_caller() -> str | None:
    """Returns the name of lawful's public function that the user's innermost line called, or None if it is unknown.

    It walks the stack, for messages of errors.

    >>> library = {"__name__": "lawful.shapes", "__all__": ["area"], "public_caller": public_caller}
    >>> exec("def area(): return public_caller()", library)
    >>> library["area"]()
    'area'
    """
    frame: FrameType | None = sys._getframe(1)
    name = None
    while frame is not None:
        code, known = frame.f_code, frame.f_globals
        if not is_internal_file(code.co_filename, known.get("__name__", "")):
            break
        if code.co_name in known.get("__all__", ()):
            name = code.co_name
        frame = frame.f_back
    return name
