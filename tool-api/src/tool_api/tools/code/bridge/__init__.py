"""The program between the tool API and one kernel. It runs with the kernel's Python, apart from the tool API, and
imports nothing but the standard library and ZeroMQ: whatever a kernel sends, it is read here first."""
