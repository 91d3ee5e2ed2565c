"""The names that `lawful.jax.lax` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.jax._support.lax.bit_generator import RandomAlgorithm as RandomAlgorithm
from lawful.jax.lax import linalg as linalg
from lawful.ops._convolution.dimension_numbers import ConvDimensionNumbers as ConvDimensionNumbers
from lawful.ops._elementwise.arithmetic.rounding import RoundingMethod as RoundingMethod
from lawful.ops._fft import FftType as FftType
from lawful.ops._indexing.gather_scatter.windows import GatherDimensionNumbers as GatherDimensionNumbers
from lawful.ops._indexing.gather_scatter.windows import GatherScatterMode as GatherScatterMode
from lawful.ops._indexing.gather_scatter.windows import ScatterDimensionNumbers as ScatterDimensionNumbers
from lawful.ops._products.precision import Precision as Precision
from lawful.ops._products.ragged import RaggedDotDimensionNumbers as RaggedDotDimensionNumbers

ConvGeneralDilatedDimensionNumbers: Any
abs: Callable[..., Any]
abs_p: Any
acos: Callable[..., Any]
acos_p: Any
acosh: Callable[..., Any]
acosh_p: Any
add: Callable[..., Any]
add_p: Any
all_gather: Callable[..., Any]
all_gather_p: Any
all_to_all: Callable[..., Any]
all_to_all_p: Any
and_p: Any
approx_max_k: Callable[..., Any]
approx_min_k: Callable[..., Any]
argmax: Callable[..., Any]
argmax_p: Any
argmin: Callable[..., Any]
argmin_p: Any
asin: Callable[..., Any]
asin_p: Any
asinh: Callable[..., Any]
asinh_p: Any
atan: Callable[..., Any]
atan2: Callable[..., Any]
atan2_p: Any
atan_p: Any
atanh: Callable[..., Any]
atanh_p: Any
axis_index: Callable[..., Any]
axis_index_p: Any
axis_size: Callable[..., Any]
batch_matmul: Callable[..., Any]
bessel_i0e: Callable[..., Any]
bessel_i0e_p: Any
bessel_i1e: Callable[..., Any]
bessel_i1e_p: Any
betainc: Callable[..., Any]
bitcast_convert_type: Callable[..., Any]
bitcast_convert_type_p: Any
bitwise_and: Callable[..., Any]
bitwise_not: Callable[..., Any]
bitwise_or: Callable[..., Any]
bitwise_xor: Callable[..., Any]
broadcast: Callable[..., Any]
broadcast_in_dim: Callable[..., Any]
broadcast_in_dim_p: Any
broadcast_like: Callable[..., Any]
broadcast_shapes: Callable[..., Any]
broadcast_to_rank: Callable[..., Any]
broadcasted_iota: Callable[..., Any]
cbrt: Callable[..., Any]
cbrt_p: Any
ceil: Callable[..., Any]
ceil_p: Any
clamp: Callable[..., Any]
clamp_p: Any
clz: Callable[..., Any]
clz_p: Any
collapse: Callable[..., Any]
complex: Callable[..., Any]
complex_p: Any
composite: Callable[..., Any]
concatenate: Callable[..., Any]
concatenate_p: Any
cond_p: Any
conj: Callable[..., Any]
conj_p: Any
conv: Callable[..., Any]
conv_dimension_numbers: Callable[..., Any]
conv_general_dilated: Callable[..., Any]
conv_general_dilated_local: Callable[..., Any]
conv_general_dilated_p: Any
conv_general_dilated_patches: Callable[..., Any]
conv_general_permutations: Callable[..., Any]
conv_general_shape_tuple: Callable[..., Any]
conv_shape_tuple: Callable[..., Any]
conv_transpose: Callable[..., Any]
conv_transpose_shape_tuple: Callable[..., Any]
conv_with_general_padding: Callable[..., Any]
convert_element_type: Callable[..., Any]
convert_element_type_p: Any
cos: Callable[..., Any]
cos_p: Any
cosh: Callable[..., Any]
cosh_p: Any
cumlogsumexp: Callable[..., Any]
cumlogsumexp_p: Any
cummax: Callable[..., Any]
cummax_p: Any
cummin: Callable[..., Any]
cummin_p: Any
cumprod: Callable[..., Any]
cumprod_p: Any
cumsum: Callable[..., Any]
cumsum_p: Any
custom_linear_solve: Callable[..., Any]
custom_root: Callable[..., Any]
dce_sink: Callable[..., Any]
digamma: Callable[..., Any]
digamma_p: Any
div: Callable[..., Any]
div_p: Any
dot: Callable[..., Any]
dot_general: Callable[..., Any]
dot_general_p: Any
dtype: Callable[..., Any]
dynamic_index_in_dim: Callable[..., Any]
dynamic_slice: Callable[..., Any]
dynamic_slice_in_dim: Callable[..., Any]
dynamic_slice_p: Any
dynamic_update_index_in_dim: Callable[..., Any]
dynamic_update_slice: Callable[..., Any]
dynamic_update_slice_in_dim: Callable[..., Any]
dynamic_update_slice_p: Any
empty: Callable[..., Any]
eq: Callable[..., Any]
eq_p: Any
erf: Callable[..., Any]
erf_inv: Callable[..., Any]
erf_inv_p: Any
erf_p: Any
erfc: Callable[..., Any]
erfc_p: Any
exp: Callable[..., Any]
exp2: Callable[..., Any]
exp2_p: Any
exp_p: Any
expand_dims: Callable[..., Any]
expm1: Callable[..., Any]
expm1_p: Any
fft: Callable[..., Any]
fft_p: Any
floor: Callable[..., Any]
floor_p: Any
full: Callable[..., Any]
full_like: Callable[..., Any]
gather: Callable[..., Any]
gather_p: Any
ge: Callable[..., Any]
ge_p: Any
gt: Callable[..., Any]
gt_p: Any
igamma: Callable[..., Any]
igamma_grad_a: Callable[..., Any]
igamma_grad_a_p: Any
igamma_p: Any
igammac: Callable[..., Any]
igammac_p: Any
imag: Callable[..., Any]
imag_p: Any
index_in_dim: Callable[..., Any]
index_take: Callable[..., Any]
integer_pow: Callable[..., Any]
integer_pow_p: Any
iota: Callable[..., Any]
iota_p: Any
is_finite: Callable[..., Any]
is_finite_p: Any
le: Callable[..., Any]
le_p: Any
lgamma: Callable[..., Any]
lgamma_p: Any
linear_solve_p: Any
log: Callable[..., Any]
log1p: Callable[..., Any]
log1p_p: Any
log2: Callable[..., Any]
log_p: Any
logistic: Callable[..., Any]
logistic_p: Any
lt: Callable[..., Any]
lt_p: Any
max: Callable[..., Any]
max_p: Any
min: Callable[..., Any]
min_p: Any
mul: Callable[..., Any]
mul_p: Any
mulhi: Callable[..., Any]
ne: Callable[..., Any]
ne_p: Any
neg: Callable[..., Any]
neg_p: Any
nextafter: Callable[..., Any]
nextafter_p: Any
not_p: Any
one_minus_square: Callable[..., Any]
optimization_barrier: Callable[..., Any]
optimization_barrier_p: Any
or_p: Any
pad: Callable[..., Any]
pad_p: Any
padtype_to_pads: Callable[..., Any]
pbroadcast: Callable[..., Any]
pcast: Callable[..., Any]
platform_dependent: Callable[..., Any]
pmax: Callable[..., Any]
pmax_p: Any
pmean: Callable[..., Any]
pmin: Callable[..., Any]
pmin_p: Any
polygamma: Callable[..., Any]
polygamma_p: Any
polynomial: Callable[..., Any]
population_count: Callable[..., Any]
population_count_p: Any
pow: Callable[..., Any]
pow_p: Any
ppermute: Callable[..., Any]
ppermute_p: Any
pshuffle: Callable[..., Any]
psum: Callable[..., Any]
psum_p: Any
psum_scatter: Callable[..., Any]
pswapaxes: Callable[..., Any]
ragged_dot: Callable[..., Any]
ragged_dot_general: Callable[..., Any]
random_gamma_grad: Callable[..., Any]
real: Callable[..., Any]
real_p: Any
reciprocal: Callable[..., Any]
reduce: Callable[..., Any]
reduce_and: Callable[..., Any]
reduce_and_p: Any
reduce_max: Callable[..., Any]
reduce_max_p: Any
reduce_min: Callable[..., Any]
reduce_min_p: Any
reduce_or: Callable[..., Any]
reduce_or_p: Any
reduce_p: Any
reduce_precision: Callable[..., Any]
reduce_precision_p: Any
reduce_prod: Callable[..., Any]
reduce_prod_p: Any
reduce_sum: Callable[..., Any]
reduce_sum_p: Any
reduce_window: Callable[..., Any]
reduce_window_max_p: Any
reduce_window_min_p: Any
reduce_window_p: Any
reduce_window_shape_tuple: Callable[..., Any]
reduce_window_sum_p: Any
reduce_xor: Callable[..., Any]
reduce_xor_p: Any
regularized_incomplete_beta_p: Any
rem: Callable[..., Any]
rem_p: Any
reshape: Callable[..., Any]
reshape_p: Any
rev: Callable[..., Any]
rev_p: Any
rng_bit_generator: Callable[..., Any]
round: Callable[..., Any]
rsqrt: Callable[..., Any]
rsqrt_p: Any
scan_p: Any
scatter: Callable[..., Any]
scatter_add: Callable[..., Any]
scatter_add_p: Any
scatter_apply: Callable[..., Any]
scatter_max: Callable[..., Any]
scatter_max_p: Any
scatter_min: Callable[..., Any]
scatter_min_p: Any
scatter_mul: Callable[..., Any]
scatter_mul_p: Any
scatter_p: Any
scatter_sub: Callable[..., Any]
scatter_sub_p: Any
select: Callable[..., Any]
select_and_gather_add_p: Any
select_and_scatter_add_p: Any
select_n: Callable[..., Any]
select_n_p: Any
shape_as_value: Callable[..., Any]
sharding_constraint_p: Any
shift_left: Callable[..., Any]
shift_left_p: Any
shift_right_arithmetic: Callable[..., Any]
shift_right_arithmetic_p: Any
shift_right_logical: Callable[..., Any]
shift_right_logical_p: Any
sign: Callable[..., Any]
sign_p: Any
sin: Callable[..., Any]
sin_p: Any
sinh: Callable[..., Any]
sinh_p: Any
slice: Callable[..., Any]
slice_in_dim: Callable[..., Any]
slice_p: Any
sort: Callable[..., Any]
sort_key_val: Callable[..., Any]
sort_p: Any
split: Callable[..., Any]
split_p: Any
sqrt: Callable[..., Any]
sqrt_p: Any
square: Callable[..., Any]
square_p: Any
squeeze: Callable[..., Any]
squeeze_p: Any
stack: Callable[..., Any]
stage: Callable[..., Any]
stop_gradient_p: Any
sub: Callable[..., Any]
sub_p: Any
tan: Callable[..., Any]
tan_p: Any
tanh: Callable[..., Any]
tanh_p: Any
tile: Callable[..., Any]
top_k: Callable[..., Any]
top_k_p: Any
transpose: Callable[..., Any]
transpose_p: Any
unstack: Callable[..., Any]
while_p: Any
with_sharding_constraint: Callable[..., Any]
xor_p: Any
zeta: Callable[..., Any]
zeta_p: Any
