"""Writing with sources: a user's papers and reports, written by person and agent, with verified citations."""
