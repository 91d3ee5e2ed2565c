"""How long programs take to compile beside JAX's: functions in series, and chains of random draws."""
