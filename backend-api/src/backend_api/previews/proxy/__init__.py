"""The proxy of opened ports, each under a host of its own."""
