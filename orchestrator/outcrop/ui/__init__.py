"""The live view: the runs of a workspace in a browser, as they happen, on this machine only."""
