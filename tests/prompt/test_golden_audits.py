"""Whole audits of three small projects, which a reader can check by hand."""

import json
from pathlib import Path
from typing import Any

from tests.cli.command_line import start
from tests.projects import project

SHOP = {
    "shop/cart.py": '''\
        """A cart."""

        from shop.prices import total


        class Cart:
            """Collects items."""

            def __init__(self):
                self.items = []

            def add(self, item):
                """Put an item in."""
                self.items.append(item)

            def total(self):
                """Return what all items cost."""
                return total(self.items)
        ''',
    "shop/prices.py": '''\
        """Prices."""

        DISCOUNT = 0.1


        def total(items):
            """Add up the prices of items."""
            return sum(item.price for item in items)


        def discounted(price):
            """Take the discount off."""
            return price * (1 - DISCOUNT)
        ''',
    "tests/test_cart.py": """\
        from shop.cart import Cart


        def test_an_empty_cart_costs_nothing():
            assert Cart().total() == 0
        """,
    "README.md": "# Shop\n\nA cart and its prices.\n",
}


NOTES = {
    "guide.md": "# Guide\n\nHow to begin.\n\n## Install\n\nRun the installer.\n\n## Use\n\nStart it.\n",
    "data.json": '{\n  "name": "demo",\n  "sizes": [1, 2, 3],\n  "deep": {"a": {"b": 1}}\n}\n',
    "todo.txt": "buy milk\n",
}


def told(folder: Path, *options: str) -> str:
    """Return what a reader checks: scores and weights are left out, which change when weights are fitted anew."""
    audit: dict[str, Any] = json.loads(start(folder, *options, "--explain", "--json", "-q").out)
    lines = [f"{audit['tokens']} tokens, {audit['generated']} generated"]
    lines += [f"{tokens} in {section}" for section, tokens in audit["sections"].items()]
    for row in audit["rows"]:
        pin = " pinned" if row["pinned"] else ""
        following = f" next {row['next']}" if row["next"] else ""
        shown = f" shows {', '.join(row['definitions'])}" if row["definitions"] else ""
        place = f"rank {row['rank']}{shown}{following}"
        lines.append(
            f"{row['tokens']} {row['path']}: {row['level']} of {row['most']}{pin}, {place}"
        )
    lines += ["cut {section}: {what}, {tokens}: {reason}".format(**cut) for cut in audit["cut"]]
    lines += ["no {evidence}: {reason}".format(**missing) for missing in audit["missing"]]
    assert all((row["score"] is None) == (row["rank"] is None) for row in audit["rows"])
    return "\n".join(lines) + "\n"


TASK = ("--task", "take the discount off the total of a cart")
ALL = '[files]\npaths = ["README.md", "shop/*", "tests/*"]\n'


def test_a_task_without_a_budget_lowers_nothing(tmp_path: Path) -> None:
    """Every file is shown as its entry asks, with its place by score (rules A-1, A-2, T-3)."""
    folder = project(tmp_path, {**SHOP, "manual_slop.toml": ALL})
    assert told(folder, *TASK) == (
        "209 tokens, 3 generated\n"
        "209 in files\n"
        "19 README.md: full of full, rank 4\n"
        "82 shop/cart.py: full of full, rank 2\n"
        "67 shop/prices.py: full of full, rank 1\n"
        "38 tests/test_cart.py: full of full, rank 3\n"
        "no history: the files are not in a git repository\n"
    )


def test_a_budget_lowers_what_matters_least(tmp_path: Path) -> None:
    """Of the two files of the task the likelier one is shown in full, the others named, the first turn is left out (A-1, A-2, A-4)."""
    history = f'[discussion]\nhistory = ["User: {"hello " * 60}", "AI: yes"]\n'
    folder = project(
        tmp_path, {**SHOP, "manual_slop.toml": f'[project]\nname = "shop"\n{ALL}{history}'}
    )
    assert told(folder, *TASK, "--budget", "320") == (
        "244 tokens, 54 generated\n"
        "34 in project\n"
        "169 in files\n"
        "28 in history\n"
        "13 in task\n"
        "0 README.md: name of full, rank 4\n"
        "48 shop/cart.py: focused of full, rank 2 shows Cart.total next focused\n"
        "67 shop/prices.py: full of full, rank 1 shows total, discounted\n"
        "0 tests/test_cart.py: name of full, rank 3\n"
        "cut history: turn 1, 70: the discussion's share of the budget is used up; the oldest turns are left out first\n"
        "no history: the files are not in a git repository\n"
    )


def test_a_budget_without_a_task_scores_nothing(tmp_path: Path) -> None:
    """No rank and no score, no entry is raised, and what all fits into names the excluded too (A-1, B-3, B-12, T-3)."""
    config = """\
        [files]
        paths = [
          "guide.md",
          { path = "data.json", view_mode = "outline" },
          { path = "todo.txt", view_mode = "none" },
        ]
        """
    assert told(project(tmp_path, {**NOTES, "manual_slop.toml": config}), "--budget", "500") == (
        "83 tokens, 3 generated\n"
        "83 in files\n"
        "30 guide.md: full of full, rank None shows Guide, Guide.Install, Guide.Use\n"
        "40 data.json: outline of outline, rank None\n"
        "10 todo.txt: none of none, rank None\n"
        "no text: the task has no text\n"
    )
