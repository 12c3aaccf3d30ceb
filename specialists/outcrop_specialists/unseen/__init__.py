"""What is looked at for a reader who is to see no row: names, types, counts, and texts that tell of no row."""
