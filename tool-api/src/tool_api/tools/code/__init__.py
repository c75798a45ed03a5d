"""Code in contexts that keep their state, by Jupyter kernels."""
