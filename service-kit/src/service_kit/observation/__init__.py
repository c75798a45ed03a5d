"""How our services are watched: what they count, whom they work for, and the spans of a trace.

Standard library, OpenTelemetry's API and the Prometheus client only: domain and application import this package.
"""
