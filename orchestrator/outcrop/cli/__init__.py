"""The command line: one file a group of commands, each imported when its command is given."""
