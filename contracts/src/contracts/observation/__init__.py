"""How our services are watched: what they count, whom they work for, and the spans of a trace.

Standard library only: it is the one thing beside themselves that domain and application may import.
"""
