"""Observation of our services: their counts, the request they work for, and the spans of a trace.

Standard library, OpenTelemetry's API and the Prometheus client only: domain and application import this package.
"""
