"""`outcrop mcp`: Outcrop's tools, runs and files for programs that speak the Model Context Protocol.

`host.py` does the work, `catalogue.py` says what is offered, `answers.py` what is given back, `files.py` and
`resources.py` what may be read; `door.py` is the only module that imports `mcp.server`, `lines.py` and
`http.py` are the two transports beneath it.
"""
