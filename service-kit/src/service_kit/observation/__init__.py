"""How our services are watched: what they count, whom they work for, and the spans of a trace.

Standard library and OpenTelemetry's API only: domain and application may import nothing else beside themselves.
"""
