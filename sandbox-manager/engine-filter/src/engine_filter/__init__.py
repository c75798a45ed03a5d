"""Between the sandbox manager and the Docker engine: lets through the few calls the manager needs, and nothing else."""
