"""Scientific papers: where they are found and read, and the collection of them that a user keeps."""
