"""What the Python services do alike, whatever they are for: errors and their answers, bounded reading, listening."""
