"""Arguments of JAX that lawful's functions do not have: which change nothing, and why the others are refused."""

from typing import Final

#: Advice to a compiler or a check that has no effect on results.
NEUTRAL: Final = frozenset(
    (
        "_split_transpose",
        "accuracy",
        "assume_unique_indices",
        "batch_size",
        "bucket_size",
        "check_finite",
        "debug",
        "in_nzs",
        "indices_are_sorted",
        "method",
        "overwrite_a",
        "overwrite_b",
        "overwrite_c",
        "prevent_mlir_dce",
        "saveable_args",
        "strip_zeros",
        "sum_match",
        "to",
        "turbo",
        "unique_indices",
        "unroll",
    )
)

#: Values of arguments that are what lawful does, beside the default.
OWN_VALUES: Final = {"mode": ("low",)}

#: Why an argument is refused, for the error message and the page "Coming from JAX".
REASONS: Final = {
    "out": "arrays are immutable; use the result",
    "dtype": "the dtype follows from the arguments; convert with astype",
    "dynamic_shape": "matrices are not padded; leave it out",
    "eps": "it is chosen by the dtype; leave it out",
    "max_iterations": "there is no iteration; leave it out",
    "sharding": "shardings are not part of types; use device_put or lax.with_sharding_constraint",
    "with_logs": "residuals are chosen by the rule; leave it out",
    "remat": "use checkpoint around the function",
    "with_accums": "cotangents are returned; leave it out",
    "where": "neither has JAX's function one; use jax.numpy.where",
    "mode": "numbers are those of the mode that JAX has by default",
    "implementation": "the algorithm is chosen by LAPACK; leave it out",
    "algorithm": "the algorithm is chosen by LAPACK; leave it out",
    "subset_by_index": "all values are computed; take a slice of them",
    "sort_eig_vals": "neither does JAX's function sort them; leave it out",
    "select_callable": "neither does JAX's function call it; leave it out",
    "perturb_singular": "a singular matrix gives NaN; leave it out",
    "pivoting": "there is no pivoting; leave it out",
    "group_offset": "neither has JAX's function one yet",
    "_dot_general": "products are those of lawful.ops.dot_general",
    "series_order": "the result is exact to rounding; leave it out",
    "numpy_resid": "residuals are those of NumPy; leave it out",
    "eigvals": "all eigenvalues are computed; take a slice of them",
    "type": "there is one matrix, and the problem a v = w v",
    "reduce_axes": "JAX removed what it was for; leave it out",
    "lwork": "the workspace is chosen by LAPACK; leave it out",
    "lapack_driver": "the driver is chosen by NumPy; leave it out",
    "cluster_detection_method": "the arguments, or the environment, say which processes there are",
    "slice_index": "there are no slices; leave it out",
    "partition_index": "there are no partitions; leave it out",
    "mtls_cert_file": "connections are not encrypted; use a network that you trust",
    "mtls_key_file": "connections are not encrypted; use a network that you trust",
    "mtls_ca_file": "connections are not encrypted; use a network that you trust",
    "mtls_peer_uri_prefix": "connections are not encrypted; use a network that you trust",
    "verify_secure_credentials": "connections are not encrypted; use a network that you trust",
    "use_magma": "there is no GPU; leave it out",
}
