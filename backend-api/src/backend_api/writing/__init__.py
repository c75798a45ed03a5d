"""Writing with sources: papers and reports of a user, by person and agent, with citations that hold."""
