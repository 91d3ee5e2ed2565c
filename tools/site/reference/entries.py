"""The entry of one public name in reStructuredText: a directive of Sphinx' domain of Python, and the docstring."""

import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

from tools.site.reference.docstrings import restructured
from tools.site.reference.names import Name

_WIDTH = 3


def entry(name: Name) -> list[str]:
    """Returns the entry of a name, with public methods and attributes of a class."""
    value = name.value
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return [*_directive(kind, name.name, _signature(value), name.module, name.doc), *_members(value)]
    if callable(value):
        return _directive("function", name.name, _signature(value) or "(...)", name.module, name.doc)
    lines = _directive("data", name.name, "", name.module, name.doc)
    text = _plain(repr(value))
    if not name.doc and len(text) <= 100:
        lines += ["", f"   Equals ``{text}``."]
    return lines


def _directive(kind: str, name: str, signature: str, module: str, doc: str, indent: int = 0) -> list[str]:
    options = [f":module: {module}"] if module else []
    options += [":no-contents-entry:", ":no-index-entry:"] if not module and kind == "attribute" else []
    lines = [f".. py:{kind}:: {name}{signature}", *(" " * _WIDTH + option for option in options), ""]
    lines += [(" " * _WIDTH + line).rstrip() for line in restructured(doc)]
    return ["", *((" " * indent + line).rstrip() for line in lines)]


def _members(value: type) -> Iterator[str]:
    """Yields the entries of methods and properties which the class itself defines, and documents."""
    if issubclass(value, enum.Enum):
        for member in value:
            yield from _directive("attribute", member.name, "", "", "", _WIDTH)
        return
    for name, member in sorted(vars(value).items()):
        doc = getattr(member, "__doc__", None)
        if name.startswith("_") or not isinstance(doc, str):
            continue
        doc = inspect.cleandoc(doc)
        if isinstance(member, property):
            yield from _directive("property", name, "", "", doc, _WIDTH)
        elif isinstance(member, classmethod):
            yield from _directive("classmethod", name, _signature(getattr(value, name)), "", doc, _WIDTH)
        elif isinstance(member, staticmethod):
            yield from _directive("staticmethod", name, _signature(getattr(value, name)), "", doc, _WIDTH)
        elif inspect.isfunction(member):
            yield from _directive("method", name, _without_self(_signature(member)), "", doc, _WIDTH)


def _signature(value: Any) -> str:
    """Returns the signature, or "" if there is none to be had."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [
        p.replace(annotation=_annotation(p.annotation), default=_default(p.default)) for p in found.parameters.values()
    ]
    result = found.return_annotation if not inspect.isclass(value) else found.empty
    return str(found.replace(parameters=parameters, return_annotation=_annotation(result)))


class _Text:
    """A text that prints without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _annotation(annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Text(_plain(text))


def _default(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return default
    if inspect.isfunction(default) or inspect.isclass(default):
        return _Text(default.__name__)
    return _Text(_plain(repr(default)))


def _plain(text: str) -> str:
    """Returns a representation without the address of an object, which changes from build to build."""
    return re.sub(r"<(?:[\w.]+\.)*(\w+)[^<>]* at 0x[0-9a-f]+>", r"<\1>", text).replace("\n", " ")


def _without_self(signature: str) -> str:
    return re.sub(r"^\(self(?:: [^,)]+)?(?:, )?", "(", signature)
