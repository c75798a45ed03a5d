"""Reading and changing files inside the workspace, the temporary folder and that of skills."""
