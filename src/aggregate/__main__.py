"""``python -m aggregate``."""

import os
import sys

# With -m Python looks for every module in the current folder first, which may be an untrusted project: a file of it
# called click.py would run. This package itself is found by then, and its parts are looked for in it alone.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - pathlib is not loaded yet
    del sys.path[0]

from aggregate.cli import main

if __name__ == "__main__":
    main()
