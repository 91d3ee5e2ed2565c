"""All specs by name. To check another function, add a line to the table of its family."""

from __future__ import annotations

from .elementwise import ELEMENTWISE, OPERATIONS
from .linear_algebra import LINEAR_ALGEBRA
from .manipulation import MANIPULATION
from .reduction import REDUCTIONS
from .search import SEARCHES
from .spec import Spec

SPECS: dict[str, Spec] = {
    spec.key: spec for spec in (*ELEMENTWISE, *OPERATIONS, *REDUCTIONS, *MANIPULATION, *SEARCHES, *LINEAR_ALGEBRA)
}
