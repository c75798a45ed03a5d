"""What the Python services do alike: errors, bounded reading, listening, logs, metrics, traces."""
