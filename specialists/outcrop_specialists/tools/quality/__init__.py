"""Tools that judge a laboratory by its blanks, standards and duplicates."""
