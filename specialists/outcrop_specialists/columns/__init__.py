"""What a column is: its role, unit, censoring, suspicions, and how a tool chooses among columns."""
