"""Supervision by managers: they announce themselves, read the sandbox's report, and a sandbox without one ends
itself."""
