"""List the simulations, or run one: ``python -m simulation [NAME [ARGUMENTS]]``."""

import ast
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path


def simulations() -> dict[str, str]:
    """Return the first line about each module of this package that has a ``main``, by its name."""
    first_lines = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        runs = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if runs and path.stem != "__main__":
            first_lines[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return first_lines


def main() -> None:
    """List, or run the module that the first argument names with the others."""
    known = simulations()
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("python -m simulation NAME [ARGUMENTS]; --help behind a name says more\n")
        print("\n".join(f"  {name:12} {line}" for name, line in known.items()))
        return
    name = sys.argv[1]
    if name not in known:
        raise SystemExit(f"there is no simulation {name!r}: take one of {', '.join(known)}")
    # By its own name, not as __main__: what starts processes hands them functions by the name of their module.
    module = import_module(f"simulation.{name}")
    sys.argv[:2] = [f"python -m simulation {name}"]
    module.main(ArgumentParser(prog=sys.argv[0], description=module.__doc__))


if __name__ == "__main__":
    main()
