"""Each opened port under a host of its own."""
