"""Attention."""

from __future__ import annotations

import math
from typing import Any

import lawful.numpy as np
from lawful.core import ArgumentValueError, get_aval
from lawful.nn._normalization import softmax
from lawful.special import logsumexp


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """Returns ``softmax(query @ key.T * scale + bias) @ value`` for each batch element and head.

    Args:
      query: shape (B, T, N, H) or (T, N, H): batch, positions, heads, features.
      key: shape (B, S, K, H) or (S, K, H); N is a multiple of K, and each head of keys serves N / K heads of queries.
      value: the shape of ``key``.
      bias: added to the logits, broadcast to (B, N, T, S).
      mask: which pairs of positions count, broadcast to (B, N, T, S).
      scale: the factor of the logits; ``1 / sqrt(H)`` by default.
      is_causal: whether a position counts only positions up to itself.
      query_seq_lengths: how many positions of each batch element of ``query`` count, shape (B,); the result is 0
        at the others.
      key_value_seq_lengths: the same for ``key`` and ``value``.
      local_window_size: how many positions before and after a position count, one number or two.
      implementation: None or ``"xla"``.
      return_residual: whether to return the logarithms of the sums of exponentials too, of shape (B, T, N).

    Raises:
      ArgumentValueError: shapes do not fit together, or another implementation is asked for.

    >>> x = np.array([1.0, 2.0, 3.0]).reshape(3, 1, 1)
    >>> dot_product_attention(np.zeros_like(x), x, x, is_causal=True).ravel()
    array([1. , 1.5, 2. ])

    Source: ``jax.nn.dot_product_attention``.
    """
    if implementation not in (None, "xla"):
        raise ArgumentValueError(
            f"dot_product_attention: expected the implementation 'xla', got {implementation!r}; leave it out"
        )
    shape = get_aval(query).shape
    if len(shape) == 3:
        query, key, value = (np.expand_dims(x, 0) for x in (query, key, value))
        if bias is not None and get_aval(bias).ndim == 3:
            bias = np.expand_dims(bias, 0)
        if mask is not None and get_aval(mask).ndim == 3:
            mask = np.expand_dims(mask, 0)
    batch, length, heads, features = _sizes(query, key, value)
    sources, groups = get_aval(key).shape[1:3]
    dtype = get_aval(query).dtype
    scale = 1 / math.sqrt(features) if scale is None else scale
    grouped = np.reshape(query, (batch, length, groups, heads // groups, features))
    logits = np.einsum("btkgh,bskh->bkgts", grouped, key).reshape(batch, heads, length, sources)
    wide = logits.astype(np.promote_types(dtype, np.float32)) * scale
    if bias is not None:
        wide = (wide + bias).astype(get_aval(wide).dtype)
    counts = _counts(length, sources, is_causal, local_window_size)
    if mask is not None:
        counts = counts & mask
    if key_value_seq_lengths is not None:
        counts = counts & (np.arange(sources) < np.reshape(key_value_seq_lengths, (-1, 1, 1, 1)))
    if query_seq_lengths is not None:
        within = np.arange(length)[:, None] < np.reshape(query_seq_lengths, (-1, 1, 1, 1))
        counts = counts & within
    lowest = -0.7 * float(np.finfo(get_aval(wide).dtype).max)
    wide = np.where(counts, wide, lowest)
    weights = softmax(wide).astype(dtype).reshape(batch, groups, heads // groups, length, sources)
    out = np.einsum("bkgts,bskh->btkgh", weights, value).reshape(batch, length, heads, features)
    if query_seq_lengths is not None:
        out = np.where(np.reshape(within, (batch, length, 1, 1)), out, 0).astype(dtype)
    out = np.reshape(out, shape)
    if not return_residual:
        return out
    residual = np.transpose(logsumexp(wide, axis=-1), (0, 2, 1)).astype(dtype)
    return out, residual if len(shape) == 4 else np.reshape(residual, shape[:2])


def _sizes(query: Any, key: Any, value: Any) -> tuple[int, int, int, int]:
    found = tuple(get_aval(x).shape for x in (query, key, value))
    q, k, v = found
    if len(q) != 4 or k != v or len(k) != 4 or q[0] != k[0] or q[3] != k[3] or not k[2] or q[2] % k[2]:
        raise ArgumentValueError(
            f"dot_product_attention: expected shapes (B, T, N, H), (B, S, K, H) and (B, S, K, H), N a multiple of K, "
            f"got {q}, {k} and {v}"
        )
    return q[0], q[1], q[2], q[3]


def _counts(length: int, sources: int, is_causal: bool, window: int | tuple[int, int] | None) -> Any:
    """Returns which pairs of positions count, of shape (1, 1, T, S)."""
    rows, columns = np.arange(length)[:, None], np.arange(sources)[None, :]
    counts = np.ones((length, sources), bool)
    if is_causal:
        counts = counts & (columns <= rows)
    if window is not None:
        before, after = (window, window) if isinstance(window, int) else window
        counts = counts & (columns >= rows - before) & (columns <= rows + after)
    return counts[None, None]
