"""What browsers reach of programs in sandboxes: each opened port under a host of its own."""
