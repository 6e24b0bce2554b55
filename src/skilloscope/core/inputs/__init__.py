"""What comes in: the names of files, and how files are packed."""
