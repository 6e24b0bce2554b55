"""What people of each strength play in a position, beside what an engine thinks of it."""
