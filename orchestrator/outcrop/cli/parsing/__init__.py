"""What each command takes, by family. Only argparse is imported here, so that `--help` is quick."""
