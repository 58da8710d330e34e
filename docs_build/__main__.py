"""Build the site, renew the output of its examples, or check the English of the source code.

``python -m docs_build`` builds. ``examples`` runs the examples of all pages or of those named behind it, such as
``docs/sending.md``. ``english`` prints figures and fails above their limits.
"""

import sys
from pathlib import Path

from docs_build.build import SITE, build
from docs_build.english import report
from docs_build.pages import SiteError

ROOT = Path(__file__).parents[1]


def main(arguments: list[str]) -> int:
    """Run the command and return the exit code."""
    try:
        if arguments[:1] == ["examples"]:
            from docs_build.examples import refresh

            for path in refresh(ROOT, arguments[1:]):
                print(path)
            return 0
        if arguments == ["english"]:
            lines, is_within_limits = report()
            print(*lines, sep="\n")
            return 0 if is_within_limits else 1
        if arguments:
            print("usage: python -m docs_build [examples [PAGE ...] | english]", file=sys.stderr)
            return 2
        print(f"{SITE / 'index.html'}: {build(ROOT)} pages")
    except SiteError as error:
        print(f"docs_build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
