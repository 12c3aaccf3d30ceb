"""What stands around a specialist: fork server, supervisor, confinement. Standard library only, quick to import."""
