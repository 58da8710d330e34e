"""``python -m docs_build`` builds the site, ``python -m docs_build examples`` writes anew what the examples print.

Behind ``examples`` may stand pages, such as ``docs/sending.md``; else all are run.
"""

import sys
from pathlib import Path

from docs_build.build import SITE, build
from docs_build.pages import SiteError

ROOT = Path(__file__).parents[1]


def main(arguments: list[str]) -> int:
    """Do what is asked for and return the exit code."""
    try:
        if arguments[:1] == ["examples"]:
            from docs_build.examples import refresh

            for path in refresh(ROOT, arguments[1:]):
                print(path)
            return 0
        if arguments:
            print("usage: python -m docs_build [examples [PAGE ...]]", file=sys.stderr)
            return 2
        print(f"{SITE / 'index.html'}: {build(ROOT)} pages")
    except SiteError as error:
        print(f"docs_build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
