"""Skills: folders of instructions and programs that the gateway puts beside the workspace."""
