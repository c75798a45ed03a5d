"""The HTTP interface of a sandbox: its routes, and the middleware of every request."""
