"""Reading and changing files inside the workspace and the temporary folder."""
