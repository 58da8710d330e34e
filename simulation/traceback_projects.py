"""Small projects in three languages that fail when they are run, among many files that look like the right ones.

In each one a shop adds up an order: ``main`` calls ``orders``, that calls ``pricing``, and that calls ``rates``. A bug
lies in the function that fails, in one that called it with something wrong, or in one that has returned before. Other
shops have the same modules with the same functions, and each module has many functions beside.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_OTHERS = [
    "account",
    "badge",
    "cart",
    "depot",
    "event",
    "feed",
    "grant",
    "hub",
    "item",
    "journal",
    "kiosk",
    "ledger",
]
"""The names of the other shops."""
_DOINGS = [
    "archive",
    "balance",
    "check",
    "derive",
    "export",
    "format",
    "group",
    "hash",
    "index",
    "join",
    "keep",
    "list",
]
"""What the functions of each module do that have nothing to do with the bug."""


@dataclass(frozen=True, slots=True)
class Bug:
    """A change that makes a project fail.

    Attributes:
        where: In which function it lies, seen from where the program fails.
        path: Its file.
        right: A line without it.
        wrong: The same line with it.
    """

    where: str
    path: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Project:
    """A project in one language.

    Attributes:
        language: Its name.
        program: What runs it.
        arguments: Of the program.
        files: The modules of the shop.
        filler: Makes functions of their names.
        bugs: What can be wrong.
    """

    language: str
    program: str
    arguments: Sequence[str]
    files: Mapping[str, str]
    filler: Callable[[str], str]
    bugs: Sequence[Bug]

    def write(self, folder: Path, bug: Bug) -> None:
        """Write the project with a bug below ``folder``."""
        right = self.files[bug.path]
        if right.count(bug.right) != 1:
            raise AssertionError(f"{bug.path} does not hold its line once")
        texts = {**self.files, bug.path: right.replace(bug.right, bug.wrong)}
        modules = [path for path in self.files if Path(path).stem in _MODULES]
        for path in modules:
            texts[path] += self._beside(path)
            for other in _OTHERS:
                text = self.files[path].replace("package main", f"package {other}")
                text = text.replace("from shop.", f"from {other}.")
                texts[f"{other}/{Path(path).name}"] = text + self._beside(path)
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")

    def _beside(self, path: str) -> str:
        """Return the functions that stand in a module beside its own."""
        return "".join(self.filler(f"{doing}_{Path(path).stem}") for doing in _DOINGS)


_MODULES = ("baskets", "orders", "pricing", "rates")


def _python_filler(name: str) -> str:
    return (
        f'\n\ndef {name}(order, amount):\n    """{name} of an order."""\n    total = amount\n'
        f'    for line in order.get("lines", []):\n        total += line["price"]\n    return total\n'
    )


def _node_filler(name: str) -> str:
    return (
        f"\n// {name} of an order.\nfunction {name}(order, amount) {{\n  let total = amount;\n"
        f"  for (const line of order.lines || []) {{\n    total += line.price;\n  }}\n  return total;\n}}\n"
    )


def _go_filler(name: str) -> str:
    return (
        f"\n// {name} is of an order.\nfunc {name}(order Order, amount float64) float64 {{\n\ttotal := amount\n"
        f"\tfor _, line := range order.Lines {{\n\t\ttotal += line.Price\n\t}}\n\treturn total\n}}\n"
    )


_PYTHON = Project(
    "python",
    "python3",
    ["main.py"],
    {
        "main.py": "from shop.baskets import make_basket\nfrom shop.orders import add_up\n\n\n"
        "def main():\n    print(add_up(make_basket('de')))\n\n\nmain()\n",
        "shop/__init__.py": "",
        "shop/baskets.py": "def make_basket(country):\n"
        '    lines = [{"price": 3.0, "kind": "book"}, {"price": 5.0, "kind": "food"}]\n'
        '    return {"country": country, "lines": lines}\n',
        "shop/orders.py": "from shop.pricing import price_of\n\n\ndef add_up(order):\n    total = 0.0\n"
        '    for line in order["lines"]:\n        total += price_of(line, order["country"])\n    return total\n',
        "shop/pricing.py": "from shop.rates import rate_of\n\n\ndef price_of(line, country):\n"
        '    rate = rate_of(line["kind"], country)\n    return line["price"] * (1 + rate)\n',
        "shop/rates.py": 'RATES = {"de": {"book": 0.07, "food": 0.07, "other": 0.19}}\n\n\n'
        "def rate_of(kind, country):\n    rates = RATES[country]\n"
        '    return rates.get(kind, rates["other"])\n',
    },
    _python_filler,
    [
        Bug("where it fails", "shop/rates.py", 'rates["other"]', 'rates["others"]'),
        Bug(
            "in a caller",
            "shop/orders.py",
            'price_of(line, order["country"])',
            'price_of(line, order["country"].upper())',
        ),
        Bug("returned before", "shop/baskets.py", '"country": country', '"country": [country]'),
    ],
)

_NODE = Project(
    "node",
    "node",
    ["main.js"],
    {
        "main.js": 'const { makeBasket } = require("./shop/baskets");\nconst { addUp } = require("./shop/orders");\n\n'
        'function main() {\n  console.log(addUp(makeBasket("de")));\n}\n\nmain();\n',
        "shop/baskets.js": "function makeBasket(country) {\n"
        '  const lines = [{ price: 3, kind: "book" }, { price: 5, kind: "food" }];\n'
        "  return { country, lines };\n}\n\nmodule.exports = { makeBasket };\n",
        "shop/orders.js": 'const { priceOf } = require("./pricing");\n\nfunction addUp(order) {\n  let total = 0;\n'
        "  for (const line of order.lines) {\n    total += priceOf(line, order.country);\n  }\n  return total;\n}\n\n"
        "module.exports = { addUp };\n",
        "shop/pricing.js": 'const { rateOf } = require("./rates");\n\nfunction priceOf(line, country) {\n'
        "  const rate = rateOf(line.kind, country);\n  return line.price * (1 + rate);\n}\n\n"
        "module.exports = { priceOf };\n",
        "shop/rates.js": "const RATES = { de: { book: { full: 0.07 }, food: { full: 0.07 } } };\n\n"
        "function rateOf(kind, country) {\n  const rates = RATES[country];\n  return rates[kind].full;\n}\n\n"
        "module.exports = { rateOf };\n",
    },
    _node_filler,
    [
        Bug("where it fails", "shop/rates.js", "rates[kind].full", "rates[kind.length].full"),
        Bug(
            "in a caller",
            "shop/orders.js",
            "priceOf(line, order.country)",
            "priceOf(line, order.Country)",
        ),
        Bug("returned before", "shop/baskets.js", 'kind: "food"', 'sort: "food"'),
    ],
)

_GO = Project(
    "go",
    "go",
    ["run", "."],
    {
        "go.mod": "module shop\n\ngo 1.20\n",
        "main.go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(addUp(makeBasket("de")))\n}\n',
        "baskets.go": "package main\n\n// Line is a line of an order.\ntype Line struct {\n"
        "\tPrice float64\n\tKind  *Kind\n"
        "}\n\n"
        "// Order is what somebody buys.\ntype Order struct {\n\tCountry string\n\tLines   []Line\n}\n\n"
        "func makeBasket(country string) Order {\n\tbook := &Kind{Place: 0}\n"
        "\tlines := []Line{{3, book}, {5, book}}\n\treturn Order{country, lines}\n}\n",
        "orders.go": "package main\n\nfunc addUp(order Order) float64 {\n\ttotal := 0.0\n"
        "\tfor _, line := range order.Lines {\n\t\ttotal += priceOf(line, line.Kind)\n\t}\n\treturn total\n}\n",
        "pricing.go": "package main\n\nfunc priceOf(line Line, kind *Kind) float64 {\n\trate := rateOf(kind)\n"
        "\treturn line.Price * (1 + rate)\n}\n",
        "rates.go": "package main\n\n// Kind is a kind of goods.\ntype Kind struct {\n\tPlace int\n}\n\n"
        "var rates = []float64{0.07, 0.19}\n\nfunc rateOf(kind *Kind) float64 {\n\treturn rates[kind.Place]\n}\n",
    },
    _go_filler,
    [
        Bug("where it fails", "rates.go", "rates[kind.Place]", "rates[kind.Place+len(rates)]"),
        Bug("in a caller", "orders.go", "priceOf(line, line.Kind)", "priceOf(line, nil)"),
        Bug("returned before", "baskets.go", "{5, book}", "{5, nil}"),
    ],
)

PROJECTS = (_PYTHON, _NODE, _GO)
