"""A task's text, read: its terms, the scopes and identifiers that it names, and the places in files."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from aggregate.ranking.covered_names import asks, words_about
from aggregate.ranking.inquiry import NamedPlace, TaskText
from aggregate.ranking.message_text import change_words, own_words
from aggregate.ranking.named_identifiers import CERTAIN, is_file_name, named_identifiers, sole_name
from aggregate.ranking.terms import term_list, terms_in

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
    """Return the function's name, behind its class where that is named: ``Session.send``; ``""`` for none."""
    text = _HASH.sub("", text[:_LONGEST_SYMBOL].strip())
    text = text.removeprefix("block in ").removeprefix("rescue in ").removeprefix("ensure in ")
    is_constructor = text.endswith(("<init>", ".ctor"))
    text = _ARGUMENTS.sub("", _RECEIVER.sub(r"\1", text)).removesuffix("..ctor")
    parts = (
        [_LAMBDA.sub(r"\1", part) for part in _SYMBOL_SEPARATORS.split(text)]
        if "lambda$" not in text
        else (_LAMBDA.sub(r"\1", text.rpartition(".")[2]).split())
    )
    names = [part for part in parts if part not in _NO_NAMES and part.replace("_", "a").isalnum()]
    if not names:
        return ""
    has_class = len(names) > 1 and names[-2][:1].isupper() and not is_constructor
    return ".".join(names[-2:]) if has_class else names[-1]


# Places that are told: a traceback of a recursion has a thousand frames, and the first of them say it all.
MOST_PLACES: Final = 200
# Characters of a line that is read at once; messages with longer paths are rare, minified code is not.
_LONGEST_LINE: Final = 1_000
_LONGEST_PATH: Final = 400

_NUMBER: Final = r"\d{1,7}"
_PYTHON: Final = re.compile(
    rf'File "(?P<path>[^"]{{1,{_LONGEST_PATH}}})", line (?P<line>{_NUMBER})(?:, in (?P<symbol>\S{{1,200}}))?'
)
_JVM: Final = re.compile(
    r"(?:^|\s)(?:at )?(?P<symbol>(?>(?:[\w.@$-]{0,200}/)*)[\w.$<>-]{1,300}+)"
    rf"\((?P<name>[\w$-]{{1,100}}\.(?:java|kts?|scala|groovy|cljc?)):(?P<line>{_NUMBER})\)"
)
_JVM_FILE: Final = re.compile(r"\.(?:java|kts?|scala|groovy|cljc?):\d")
_JVM_OWN: Final = (
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "clojure.",
)  # where the classes of these languages themselves begin: no project holds them
_LINK: Final = re.compile(r"\b(?P<scheme>[a-z][a-z+.-]{1,30}+)://(?P<rest>[^\s\"'<>()\[\]]++)")
_BLOB: Final = re.compile(
    r"[^/]*+(?:/[^/]++){2,4}?/(?:-/)?(?:blob|blame|raw|edit|src)/[^/]++/(?P<path>.+)"
)
_BLOB_LINE: Final = re.compile(rf"#(?:L|lines?-)(?P<line>{_NUMBER}).*")
_LINE_BEHIND: Final = re.compile(rf"(?P<path>.*?):(?P<line>{_NUMBER})(?::{_NUMBER})?[:,.;]?")

_DART: Final = re.compile(r"\bpackage:\w{1,100}/")
_PATH_CHARACTER: Final = r"\w./\\@~+$%\-"
_TOKEN: Final = re.compile(
    rf"(?<![{_PATH_CHARACTER}])(?P<path>(?:[A-Za-z]:(?=[\\/]))?[\w@~+$%-]*+[./\\]"
    rf"(?>(?:[{_PATH_CHARACTER}]++|(?<=/)\[[\w.-]{{1,60}}\])*))"
    rf"(?:::(?P<test>[^\W\d]\w{{0,100}}(?:::[^\W\d]\w{{0,100}})?)|:line (?P<dotnet>{_NUMBER})"
    rf"|:(?P<line>{_NUMBER})(?![\w/])|\((?P<bracket>{_NUMBER})(?:,\s?{_NUMBER}){{0,3}}\)"
    rf"|,? (?:on )?line (?P<word>{_NUMBER})|#L(?P<anchor>{_NUMBER}))?"
)  # a run of characters that a path can be made of, and the ways in which a line stands behind it
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
_GO_PLACE: Final = re.compile(rf"^\s{{1,8}}\S{{1,{_LONGEST_PATH}}}\.go:\d")
_RUST_PLACE: Final = re.compile(rf"^\s+at \S{{1,{_LONGEST_PATH}}}:\d")
_TERMINAL_COLOURS: Final = re.compile(r"\x1b\[[0-9;]{0,20}m")


class _Line(NamedTuple):
    places: tuple[NamedPlace, ...]
    is_python: bool = False
    is_pytest: bool = False


def named_places(text: str) -> tuple[NamedPlace, ...]:
    """Return the places that ``text`` names, the most telling first, each once and at most ``MOST_PLACES``."""
    places: dict[tuple[str, int], NamedPlace] = {}
    for place in _ordered(_TERMINAL_COLOURS.sub("", text)):
        key = place.path, place.line
        if place.symbol or key not in places:
            before = places.get(key)
            places[key] = before if before and before.symbol else place
    in_order = sorted(places.values(), key=lambda place: place.line == 0)
    with_lines = {place.path for place in in_order if place.line}
    kept = [
        place for place in in_order if place.line or place.symbol or place.path not in with_lines
    ]
    return tuple(kept[:MOST_PLACES])


def _ordered(text: str) -> Iterator[NamedPlace]:
    # Each traceback from the frame where it ended.
    current: list[_Line] = []
    blocks = [current]
    chain = 0
    previous = ""
    starts = (
        (line, start)
        for line in text.split("\n")
        for start in range(0, len(line) or 1, _LONGEST_LINE)
    )
    for whole, start in starts:
        line = whole[start : start + _LONGEST_LINE]
        if line.startswith("Caused by:"):
            current = []
            blocks.insert(chain, current)
        elif (
            line.startswith(_RULE)
            or "Traceback (most recent" in line
            # Those of pytest hold blank lines.
            or not (line.strip() or any(read.is_pytest for read in current))
        ):
            if current:
                current = []
                blocks.append(current)
            chain = len(blocks) - 1
        read = _read_line(line, previous)
        if read.places:
            current.append(read)
        previous = line
    for block in blocks:
        for read in reversed(block):
            if read.is_python or read.is_pytest:
                yield from read.places
        for read in block:
            if not (read.is_python or read.is_pytest):
                yield from read.places


def _read_line(line: str, previous: str) -> _Line:
    if _INTERNAL in line or not _SEPARATOR.search(line):
        return _Line(())
    if 'File "' in line and (frame := _PYTHON.search(line)):
        return _Line(tuple(_place(frame["path"], frame["line"], frame["symbol"])), is_python=True)
    if _JVM_FILE.search(line) and (frame := _JVM.search(line)):
        symbol = frame["symbol"].rpartition("/")[2]
        if symbol.startswith(_JVM_OWN):
            return _Line(())
        package = [part for part in symbol.split(".")[:-2] if part]  # which is the folder
        path = "/".join((*package, frame["name"]))
        return _Line(tuple(_place(path, frame["line"], symbol)))
    places: list[NamedPlace] = []
    if ".go:" in line and _GO_PLACE.match(line):
        found = _GO_FUNCTION.match(previous)
    elif _RUST_PLACE.match(line):
        found = _RUST_FUNCTION.match(previous)
    else:
        found = next(filter(None, (pattern.search(line) for pattern in _SYMBOLS)), None)
    symbol = found["symbol"] if found else ""
    if "://" in line:
        for link in _LINK.finditer(line):
            places += _linked(link["scheme"], link["rest"], symbol)
        line = _LINK.sub(" ", line)
    if "package:" in line:
        line = _DART.sub("lib/", line)
    for token in _TOKEN.finditer(line):
        path, number = token["path"], next(filter(None, map(token.__getitem__, _WITH_LINE)), "")
        if token["test"]:
            places += _place(path, "0", token["test"]) if path.endswith((".py", ".pyi")) else ()
        elif number and _SUFFIX.search(path):
            places += _place(path, number, symbol)
        elif not number and is_file_name(path.rstrip(".,-")):
            places += _place(path, "0", "")
    return _Line(tuple(places), is_pytest=bool(places and _PYTEST.match(line)))


def _linked(scheme: str, rest: str, symbol: str) -> Iterator[NamedPlace]:
    # A file shown by a host of repositories, or a script that a server gave.
    if blob := _BLOB.fullmatch(rest):
        path, _, anchor = blob["path"].partition("#")
        line = _BLOB_LINE.fullmatch(f"#{anchor}")
        yield from _place(path.partition("?")[0], line["line"] if line else "0", "")
        return
    match = _LINE_BEHIND.fullmatch(rest)
    if match is None:
        if scheme == "file":
            yield from _place(rest, "0", "")
        return
    path = match["path"].partition("?")[0]
    if not path.startswith((".", "/")):
        path = path.partition("/")[2]  # without the host
    yield from _place(path.lstrip("./") if scheme != "file" else path, match["line"], symbol)


def _place(path: str, line: str, symbol: str | None) -> Iterator[NamedPlace]:
    path = path.strip().replace("\\", "/").rstrip(".,-")
    while path.startswith("./"):
        path = path[2:]
    if path.startswith("/") and path[2:4] == ":/":  # file:///C:/x
        path = path[1:]
    is_internal = path.startswith(("<", "node:", "internal/", "native "))
    if path and not is_internal and len(path) <= _LONGEST_PATH and path.strip("./"):
        yield NamedPlace(path, int(line), plain_symbol(symbol or ""))


# Of a text, half from its beginning and half from its end; what stands between is the middle of a log.
_MOST_CHARACTERS: Final = 400_000
# Characters in which names and places are looked for, in the same way: far more than any person writes.
_MOST_LOOKED_AT: Final = 40_000
_LONGEST_SUBJECT: Final = 300
_MOST_SCOPES: Final = 3

_BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*+\n)++")
_BRACKETS: Final = re.compile(r"\s*+\[(?P<scope>[^\[\]]{1,60})\]\s*+:?")
_CONVENTIONAL: Final = re.compile(r"\s*+(?P<type>[A-Za-z]{2,12})\((?P<scope>[^()]{1,60})\)!?:\s")
# The same at the beginning of the text, where its type looks like a function that is called.
_TYPE: Final = re.compile(rf"\A{_CONVENTIONAL.pattern}")
_PREFIX: Final = re.compile(
    r"\s*+(?P<scope>[\w./,*{}@+-]{1,40}+(?: [\w./,*{}@+-]{1,40}+){0,2}?)!?:\s"
)
# Words before a colon that say what kind of change or message it is, not where; ``docs`` and ``tests`` say where.
_NO_SCOPES: Final = frozenset({
    "aw", "breaking", "bug", "bugfix", "build", "chore", "crash", "enhancement", "error", "fatal", "feat", "feature",
    "fix", "fixes", "fwd", "hotfix", "idea", "improvement", "issue", "note", "panic", "perf", "problem", "proposal",
    "question", "re", "refactor", "regression", "request", "revert", "rfc", "style", "task", "todo", "urgent",
    "warning", "wip",
})  # fmt: skip
_FAILURE: Final = re.compile(r"(?:[\w.$]*(?:Error|Exception|Warning|Fault)|Traceback\b.*)$")
_LETTER: Final = re.compile(r"[^\W_]")
_TRACEBACK: Final = re.compile(r"\s*+(?:Traceback \(most recent|goroutine \d|Exception in thread)")
_PYTHON_FRAME: Final = re.compile(r'File "([^"\n]{1,400})", line \d{1,7}(?:, in )?')
_WORDING: Final = re.compile(
    r"Traceback \(most recent call last\):|During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:|Exception in thread \"[^\"\n]{0,100}\""
    r"|stack backtrace:|goroutine \d{1,9} \[[^\]\n]{0,60}\]:|\bRUST_BACKTRACE=[^\n]{0,200}"
    r"|node:internal/[^\s()]{1,200}|\+?0x[0-9a-fA-F]{1,16}\b"
)
_ANY_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]++|[0-9][0-9a-fA-F]*+")
# Lines that differ in numbers alone: so many are a log's, which tells by what it says once.
_OFTEN: Final = 12


def read_task(text: str) -> TaskText:
    """Return what ``text`` tells of what it is about; an empty text tells nothing. The time is linear in its length."""
    shortened = _ends(text.replace("\r\n", "\n").replace("\r", "\n"), _MOST_CHARACTERS)
    shortened = _BLANK_LINES.sub("\n\n", shortened)
    words = _without_repetition(own_words(shortened))
    subject = _subject(words)
    words = _without_wording(words)
    looked_at = _ends(words, _MOST_LOOKED_AT)
    scopes: list[str] = []
    rest = subject
    for _ in range(_MOST_SCOPES):
        match = _BRACKETS.match(rest) or _CONVENTIONAL.match(rest) or _PREFIX.match(rest)
        if match is None or _FAILURE.match(match["scope"]):
            break
        if match["scope"].lower() not in _NO_SCOPES:
            scopes += term_list(match["scope"])
        rest = rest[match.end() :]
    sole, is_question = sole_name(words), asks(text)
    about = words_about(rest, is_question=is_question)
    names = named_identifiers(_TYPE.sub(r"\g<scope>: ", looked_at))
    return TaskText(
        terms=dict(terms_in(words)),
        subject=tuple(dict.fromkeys(term_list(subject))),
        about=about,
        asks=bool(about) and is_question,
        scopes=tuple(dict.fromkeys(scopes)),
        sole=sole,
        names={**names, sole: CERTAIN} if sole else names,
        places=named_places(_without_quotes(_ends(shortened, _MOST_LOOKED_AT))),
        text=text,
        change_words=tuple(sorted(change_words(subject))),
    )


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n{text[-most // 2 :]}"


def _subject(words: str) -> str:
    # Where that only opens a traceback, the line that says what went wrong.
    lines = iter(words.split("\n"))
    first = next((line for line in lines if _LETTER.search(line)), "")
    if _TRACEBACK.match(first):
        first = next(
            (line for line in lines if line[:1].strip() and not _TRACEBACK.match(line)), first
        )
    return first.strip()[:_LONGEST_SUBJECT]


def _without_wording(text: str) -> str:
    return _WORDING.sub(" ", _PYTHON_FRAME.sub(r"\1 ", text))


def _without_repetition(text: str) -> str:
    """Return ``text`` without lines that occur often but for their numbers; all of it where no word is left."""
    lines = text.split("\n")
    if len(lines) < _OFTEN:
        return text
    shapes = [_ANY_NUMBER.sub("0", line.strip()) for line in lines]
    often = {shape for shape, times in Counter(shapes).items() if shape and times >= _OFTEN}
    rare = [line for line, shape in zip(lines, shapes, strict=True) if shape not in often]
    left = "\n".join(rare)
    return left if re.search(r"[^\W\d_]", left) else text


def _without_quotes(text: str) -> str:
    return re.sub(r"^>(?:[ \t]?>)*+ ?(?![ \t])", "", text, flags=re.MULTILINE)
