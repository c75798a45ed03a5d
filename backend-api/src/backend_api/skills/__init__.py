"""Skills: instructions for kinds of work, which agents read when such work comes up."""
