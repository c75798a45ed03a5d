"""Where things in source code are defined and used: found by tree-sitter, in a program of its own."""
