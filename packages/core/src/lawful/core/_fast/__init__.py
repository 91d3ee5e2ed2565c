"""The accelerators of core: jaxprs in indexed form, cached rules, deduplicated jaxprs.

The accelerators of other packages build on these names.
"""

from lawful.core._fast.deduplication import deduplicate
from lawful.core._fast.evaluation import FastEvalTrace
from lawful.core._fast.indexed_jaxpr import IndexedJaxpr
from lawful.core._fast.replay import Replay, calls, register_calls, register_replay, replay, replay_steps, replays
from lawful.core._fast.rule_cache import cached_rule, definitions, derived_or_none, insert_rule, rule_cache
from lawful.core._jaxpr.deduplication import deduplication_hook
from lawful.core._trace.trace import evaluation_hook

deduplication_hook.install(deduplicate)
evaluation_hook.install(FastEvalTrace)

__all__ = [
    "IndexedJaxpr",
    "Replay",
    "cached_rule",
    "calls",
    "definitions",
    "derived_or_none",
    "insert_rule",
    "register_calls",
    "register_replay",
    "replay",
    "replay_steps",
    "replays",
    "rule_cache",
]
