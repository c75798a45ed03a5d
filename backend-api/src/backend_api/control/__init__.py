"""Control of a session's computer by people."""
