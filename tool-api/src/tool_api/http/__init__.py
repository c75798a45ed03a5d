"""The HTTP interface of a sandbox: its routes, and what every request passes through."""
