"""Abstract values: dtypes, arrays and scalars, and the devices that they are on."""
