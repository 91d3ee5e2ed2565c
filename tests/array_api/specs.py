"""All specs by name. To check another function, add a line to the table of its family."""

from __future__ import annotations

from ._elementwise_specs import ELEMENTWISE, OPERATIONS
from ._linear_algebra_specs import LINEAR_ALGEBRA
from ._manipulation_specs import MANIPULATION
from ._reduction_specs import REDUCTIONS
from ._search_specs import SEARCHES
from ._spec import Spec

SPECS: dict[str, Spec] = {
    spec.key: spec for spec in (*ELEMENTWISE, *OPERATIONS, *REDUCTIONS, *MANIPULATION, *SEARCHES, *LINEAR_ALGEBRA)
}
