"""Instructions for kinds of work, which agents read when there is such work."""
