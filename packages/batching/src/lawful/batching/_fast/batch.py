"""Batching with fewer Python calls: no context managers, and no lists for a primitive with one result."""

from __future__ import annotations

from collections.abc import Sequence
from threading import get_ident
from typing import Any

from lawful.batching._batch import BatchTrace, BatchTracer
from lawful.batching._weakness import weak_results
from lawful.core import Primitive, current, pair_of_rule, register_dispatch_module, source_override, user_source

register_dispatch_module(__name__)


class FastBatchTrace(BatchTrace):
    """Batches as `BatchTrace` does."""

    __slots__ = ()

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        parent = self.parent
        assert parent is not None
        named = self.axis_data.name is not None and self.is_named_in(params)
        if not named and not any([type(x) is BatchTracer and x._trace is self for x in args]):
            return parent.process_primitive(primitive, args, params)
        self.collective |= named
        vals, dims = list[Any](), list[int | None]()
        for x in args:
            if type(x) is BatchTracer and x._trace is self:
                vals.append(x.val)
                dims.append(x.batch_dim)
            else:
                vals.append(x)
                dims.append(None)
        rule = primitive.rule("batch")
        source = user_source()
        overrides, thread = source_override.by_thread, get_ident()
        before, before_source = current.trace, overrides.get(thread)
        overrides[thread] = source
        current.trace = parent
        try:
            if primitive.batch_takes_axis_data:
                result = rule(vals, dims, axis_data=self.axis_data, **params)
            else:
                result = rule(vals, dims, **params)
        finally:
            current.trace = before
            if before_source is None:
                overrides.pop(thread, None)
            else:
                overrides[thread] = before_source
        if type(result) is tuple and len(result) == 2 and not primitive.multiple_results:
            out, out_dim = result
        else:
            out, out_dim = pair_of_rule(primitive, "batch", "(out, out_dim)", result)
        weak = weak_results(primitive, args, params)
        if primitive.multiple_results:
            return [
                x if dim is None else BatchTracer(self, x, dim, source, bool(weak) and weak[i])
                for i, (x, dim) in enumerate(zip(out, out_dim, strict=True))
            ]
        return out if out_dim is None else BatchTracer(self, out, out_dim, source, bool(weak) and weak[0])
