from lawful import ops


@ops.sin_p.def_jvp
def wrong(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return ops.sin_p.bind(x), ops.mul(x_dot, ops.sin_p.bind(x))
