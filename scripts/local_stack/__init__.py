"""The embedded default: database servers, sandbox manager and gateway as children of one process."""
