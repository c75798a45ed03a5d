"""What crosses a wire between the Python services: pydantic models, identifiers, problem details."""
