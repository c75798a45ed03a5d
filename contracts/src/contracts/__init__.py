"""What crosses a wire between the Python services (pydantic models, error codes), and how all of them are watched."""
