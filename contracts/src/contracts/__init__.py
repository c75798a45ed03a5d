"""What crosses a wire between the Python services: pydantic models and error codes, nothing else."""
