"""Where sandboxes run; one conformance suite for all."""
