"""MCP servers of the deployment and of users: their tools, and signing in to them."""
