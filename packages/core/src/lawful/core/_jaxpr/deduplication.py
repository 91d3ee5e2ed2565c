"""Deduplication of jaxprs: a hook, which the plain layer leaves empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lawful.core._hook import Hook
from lawful.core._jaxpr.jaxpr import ClosedJaxpr


def _itself(closed: ClosedJaxpr) -> ClosedJaxpr:
    return closed


deduplication_hook: Final[Hook[Callable[[ClosedJaxpr], ClosedJaxpr]]] = Hook("deduplication of jaxprs", _itself)


def deduplicated(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr, or an equal one that was traced before and has cached transformed jaxprs.

    Every function that traces the body of a loop or of a call passes the jaxpr through here.

    Law: the result is alpha-equivalent to ``closed``, and has the same source lines.

    >>> from lawful.core import parse_jaxpr
    >>> deduplicated(parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }"))
    { lambda ; a:f64[]. let in (a,) }
    """
    return deduplication_hook.use(closed)
