"""Servers that tests talk to over real sockets, and the strict checks that they make of what they are asked."""
