"""Definitions and uses of names in source code, found by tree-sitter in a program of its own."""
