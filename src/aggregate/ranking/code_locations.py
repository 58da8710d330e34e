"""Find code locations, such as the frames of tracebacks, in a text."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from aggregate.ranking.inquiry import Location
from aggregate.ranking.named_identifiers import is_file_name

_HASH: Final = re.compile(r"::h[0-9a-f]{16}$")
_ARGUMENTS: Final = re.compile(r"<[^<>]*+>|\([^()]*+\)$|`\d+|\[[^\[\]]*+\]|\{[^{}]*+\}+")
_RECEIVER: Final = re.compile(r"\(\*?(\w+)\)")
_LAMBDA: Final = re.compile(r"^lambda\$(\w+)\$\d+$")
_SYMBOL_SEPARATORS: Final = re.compile(r"::|->|[.#$+/\\|]")
_NO_NAMES: Final = frozenset(
    {"", "init", "clinit", "closure", "lambda", "module", "anonymous", "func1", "func2", "func3", "main_", "as",
     "prototype", "exports", "Object", "async", "new", "block", "top", "required", "global"}
)  # fmt: skip
_LONGEST_SYMBOL: Final = 200


def plain_symbol(text: str) -> str:
    """Return a traceback frame's function (``function`` or ``Class.function``), ``""`` for lambdas and the like."""
    text = _HASH.sub("", text[:_LONGEST_SYMBOL].strip())
    text = text.removeprefix("block in ").removeprefix("rescue in ").removeprefix("ensure in ")
    is_constructor = text.endswith(("<init>", ".ctor"))
    text = _ARGUMENTS.sub("", _RECEIVER.sub(r"\1", text)).removesuffix("..ctor")
    if "lambda$" in text:
        parts = _LAMBDA.sub(r"\1", text.rpartition(".")[2]).split()
    else:
        parts = [_LAMBDA.sub(r"\1", part) for part in _SYMBOL_SEPARATORS.split(text)]
    names = [part for part in parts if part not in _NO_NAMES and part.replace("_", "a").isalnum()]
    if not names:
        return ""
    has_class = len(names) > 1 and names[-2][:1].isupper() and not is_constructor
    return ".".join(names[-2:]) if has_class else names[-1]


MOST_LOCATIONS: Final = 200  # a recursion's traceback has a thousand frames, mostly repeated
# Characters searched at once; longer lines (minified code) are split.
_LONGEST_LINE: Final = 1_000
_LONGEST_PATH: Final = 400

_NUMBER: Final = r"\d{1,7}"
_PYTHON: Final = re.compile(
    rf'File "(?P<path>[^"]{{1,{_LONGEST_PATH}}})", line (?P<line>{_NUMBER})(?:, in (?P<symbol>\S{{1,200}}))?'
)
_IPYTHON: Final = re.compile(
    rf"^(?:File )?(?P<path>[~/.\w-][^\s:()]{{0,{_LONGEST_PATH}}}\.pyx?)"
    rf"(?:(?::(?P<line>{_NUMBER}))?, in | in )(?P<symbol>[\w.<>]{{1,200}}+)\("
)
_JVM: Final = re.compile(
    r"(?:^|\s)(?:at )?(?P<symbol>(?>(?:[\w.@$-]{0,200}/)*)[\w.$<>-]{1,300}+)"
    rf"\((?P<name>[\w$-]{{1,100}}\.(?:java|kts?|scala|groovy|cljc?)):(?P<line>{_NUMBER})\)"
)
_JVM_FILE: Final = re.compile(r"\.(?:java|kts?|scala|groovy|cljc?):\d")
_JVM_LIBRARIES: Final = (
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "clojure.",
)  # packages of standard libraries
_LINK: Final = re.compile(r"\b(?P<scheme>[a-z][a-z+.-]{1,30}+)://(?P<rest>[^\s\"'<>()\[\]]++)")
_BLOB: Final = re.compile(
    r"[^/]*+(?:/[^/]++){2,4}?/(?:-/)?(?:blob|blame|raw|edit|src)/[^/]++/(?P<path>.+)"
)
_BLOB_LINE: Final = re.compile(rf"#(?:L|lines?-)(?P<line>{_NUMBER}).*")
_PATH_AND_LINE: Final = re.compile(rf"(?P<path>.*?):(?P<line>{_NUMBER})(?::{_NUMBER})?[:,.;]?")

_DART: Final = re.compile(r"\bpackage:\w{1,100}/")
_PATH_CHARACTER: Final = r"\w./\\@~+$%\-"
_TOKEN: Final = re.compile(
    rf"(?<![{_PATH_CHARACTER}])(?P<path>(?:[A-Za-z]:(?=[\\/]))?[\w@~+$%-]*+[./\\]"
    rf"(?>(?:[{_PATH_CHARACTER}]++|(?<=/)\[[\w.-]{{1,60}}\])*))"
    rf"(?:::(?P<test>[^\W\d]\w{{0,100}}(?:::[^\W\d]\w{{0,100}})?)|:line (?P<dotnet>{_NUMBER})"
    rf"|:(?P<line>{_NUMBER})(?![\w/])|\((?P<bracket>{_NUMBER})(?:,\s?{_NUMBER}){{0,3}}\)"
    rf"|,? (?:on )?line (?P<word>{_NUMBER})|#L(?P<anchor>{_NUMBER}))?"
)  # a run of path characters, and the notations of a line after it
_WITH_LINE: Final = ("dotnet", "line", "bracket", "word", "anchor")
_SUFFIX: Final = re.compile(r"[^/\\]\.[A-Za-z][A-Za-z0-9+_]{0,9}$")

_SYMBOLS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r":\d{1,7}: in (?P<symbol>\S{1,200})$",  # pytest
        r":in [`'‘](?P<symbol>[^'`’]{1,200})['’]",  # Ruby
        # Debuggers and sanitizers
        r"^\s*+#\d{1,5}\s+(?:0x[0-9a-fA-F]{1,16} in )?(?P<symbol>[A-Za-z_~][\w:~$<>,.-]{0,200}) ?(?:\(|/|[A-Z]:)",
        r"^\s*+#\d{1,5} [^\s()]{1,400}\(\d{1,7}\): (?P<symbol>[\w\\>:-]{1,200})\(",  # PHP
        r"^\s*+at (?:async |new )?(?P<symbol>[^\s()/\\:]{1,200})(?: \[as [^\s\]]{1,100}\])? \(",  # JavaScript
        r"^\s*+at (?P<symbol>[^\s()]{1,300})\([^()]{0,400}\) in ",  # C#
        r"^(?P<symbol>[\w$.<>*/]{1,100})@(?:\w|/)",  # Firefox and Safari
    )
)
_PYTEST: Final = re.compile(
    rf"^\S{{1,{_LONGEST_PATH}}}:\d{{1,7}}: (?:in \S{{1,200}}|[A-Z]\w{{1,100}}|)$"
)
_INTERNAL: Final = "node:internal/"
_SEPARATOR: Final = re.compile(r"[./\\]")
_RULE: Final = ("====", "____")
_GO_FUNCTION: Final = re.compile(
    r"^(?:created by )?(?P<symbol>[^\s()]{1,200}(?:\(\*?\w{1,100}\)[\w.]{1,200})?)[\s(]?"
)
_RUST_FUNCTION: Final = re.compile(r"^\s*+\d{1,5}: (?:0x[0-9a-f]{1,16} - )?(?P<symbol>\S{1,400})")
_GO_LOCATION: Final = re.compile(rf"^\s{{1,8}}\S{{1,{_LONGEST_PATH}}}\.go:\d")
_RUST_LOCATION: Final = re.compile(rf"^\s+at \S{{1,{_LONGEST_PATH}}}:\d")
_TERMINAL_COLOURS: Final = re.compile(r"\x1b\[[0-9;]{0,20}m")


class _Line(NamedTuple):
    locations: tuple[Location, ...]
    is_python: bool = False
    is_spaced: bool = False  # with blank lines between frames, the innermost last


def locations_in(text: str) -> tuple[Location, ...]:
    """Return a text's code locations, the most specific first."""
    by_line: dict[tuple[str, int], Location] = {}
    for location in _locations_by_frame(_TERMINAL_COLOURS.sub("", text)):
        key = location.path, location.line
        if key not in by_line or (location.symbol and not by_line[key].symbol):
            by_line[key] = location
    ordered = sorted(by_line.values(), key=lambda location: location.line == 0)
    paths_with_lines = {location.path for location in ordered if location.line}
    specific = [
        location
        for location in ordered
        if location.line or location.symbol or location.path not in paths_with_lines
    ]
    return tuple(specific[:MOST_LOCATIONS])


def _locations_by_frame(text: str) -> Iterator[Location]:
    """Yield the locations in tracebacks, of each the innermost frame first."""
    current: list[_Line] = []
    blocks = [current]
    chain = 0
    previous = ""
    for line in _short_lines(text):
        if line.startswith("Caused by:"):
            current = []
            blocks.insert(chain, current)
        elif (
            line.startswith(_RULE)
            or "Traceback (most recent" in line
            # Tracebacks of pytest and IPython contain blank lines.
            or not (line.strip() or any(parsed.is_spaced for parsed in current))
        ):
            if current:
                current = []
                blocks.append(current)
            chain = len(blocks) - 1
        parsed = _read_line(line, previous)
        if parsed.locations:
            current.append(parsed)
        previous = line
    for block in blocks:
        for parsed in reversed(block):
            if parsed.is_python or parsed.is_spaced:
                yield from parsed.locations
        for parsed in block:
            if not (parsed.is_python or parsed.is_spaced):
                yield from parsed.locations


def _short_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        for start in range(0, len(line) or 1, _LONGEST_LINE):
            yield line[start : start + _LONGEST_LINE]


def _read_line(line: str, previous: str) -> _Line:
    if _INTERNAL in line or not _SEPARATOR.search(line):
        return _Line(())
    if 'File "' in line and (frame := _PYTHON.search(line)):
        frames = _location(frame["path"], frame["line"], frame["symbol"])
        return _Line(tuple(frames), is_python=True)
    if frame := _IPYTHON.match(line):
        frames = _location(frame["path"], frame["line"] or "0", frame["symbol"])
        return _Line(tuple(frames), is_spaced=True)
    if _JVM_FILE.search(line) and (frame := _JVM.search(line)):
        symbol = frame["symbol"].rpartition("/")[2]
        if symbol.startswith(_JVM_LIBRARIES):
            return _Line(())
        package = [part for part in symbol.split(".")[:-2] if part]  # which is the folder
        path = "/".join((*package, frame["name"]))
        return _Line(tuple(_location(path, frame["line"], symbol)))
    locations: list[Location] = []
    if ".go:" in line and _GO_LOCATION.match(line):
        function = _GO_FUNCTION.match(previous)
    elif _RUST_LOCATION.match(line):
        function = _RUST_FUNCTION.match(previous)
    else:
        function = next(filter(None, (pattern.search(line) for pattern in _SYMBOLS)), None)
    symbol = function["symbol"] if function else ""
    if "://" in line:
        for link in _LINK.finditer(line):
            locations += _link_location(link["scheme"], link["rest"], symbol)
        line = _LINK.sub(" ", line)
    if "package:" in line:
        line = _DART.sub("lib/", line)
    for token in _TOKEN.finditer(line):
        path, number = token["path"], next(filter(None, map(token.__getitem__, _WITH_LINE)), "")
        if token["test"]:
            if path.endswith((".py", ".pyi")):
                locations += _location(path, "0", token["test"])
        elif number and _SUFFIX.search(path):
            locations += _location(path, number, symbol)
        elif not number and is_file_name(path.rstrip(".,-")):
            locations += _location(path, "0", "")
    return _Line(tuple(locations), is_spaced=bool(locations and _PYTEST.match(line)))


def _link_location(scheme: str, rest: str, symbol: str) -> Iterator[Location]:
    """Yield the location named by a link.

    The link leads to a repository host, a file or a served script.
    """
    if blob := _BLOB.fullmatch(rest):
        path, _, anchor = blob["path"].partition("#")
        line = _BLOB_LINE.fullmatch(f"#{anchor}")
        yield from _location(path.partition("?")[0], line["line"] if line else "0", "")
        return
    match = _PATH_AND_LINE.fullmatch(rest)
    if match is None:
        if scheme == "file":
            yield from _location(rest, "0", "")
        return
    path = match["path"].partition("?")[0]
    if not path.startswith((".", "/")):
        path = path.partition("/")[2]  # without the host
    yield from _location(path.lstrip("./") if scheme != "file" else path, match["line"], symbol)


def _location(path: str, line: str, symbol: str | None) -> Iterator[Location]:
    path = path.strip().replace("\\", "/").rstrip(".,-")
    while path.startswith("./"):
        path = path[2:]
    if path.startswith("/") and path[2:4] == ":/":  # file:///C:/x
        path = path[1:]
    is_internal = path.startswith(("<", "node:", "internal/", "native "))
    if path and not is_internal and len(path) <= _LONGEST_PATH and path.strip("./"):
        yield Location(path, int(line), plain_symbol(symbol or ""))
