"""Which files a program has written, told from their names and what they begin with.

The rules are those of https://go.dev/s/generatedcode and of the banners that common generators write. A file that only
speaks of generated code must not be taken for one: a banner counts in the comments before the first code, at the
beginning of a sentence, and unless it is unmistakable only beside a request not to edit.
"""

import re
from functools import cache
from typing import Final

from aggregate.base.text.lines import printable

# What of a text is looked at: a licence of usual length, and what follows it.
HEAD_CHARACTERS: Final = 4096
_HEAD_LINES: Final = 80
# Comments of many lines, and docstrings, by what opens them.
_BLOCKS: Final = {
    "/*": "*/", "<!--": "-->", "(*": "*)", "{-": "-}", "--[[": "]]", "#|": "|#", "<#": "#>", "{#": "#}",
    "<%--": "--%>", "=begin": "=end", '"""': '"""', "'''": "'''",
}  # fmt: skip
_QUOTES: Final = ('"""', "'''")
# Kinds of text whose lines may begin with the mark of a comment and are none: headings, lists.
_PROSE: Final = frozenset({".md", ".markdown", ".mdx", ".rst", ".adoc", ".html", ".htm", ".txt"})
_OPENED: Final = re.compile(
    r"\s*(?:[rRuU]?(?P<block>" + "|".join(map(re.escape, _BLOCKS)) + r")|(?P<line>/{2,}[/!]?|#+!?"
    r"|--+|;+|%+|!+|dnl\b|(?i:@?rem\b)|\.\. |\.\\\"))"
)
# What may stand before or between such comments and is none: declarations, blank lines.
_PREAMBLE: Final = re.compile(
    r"\s*(?:<[?!]|@charset\b|@echo\b|['\"]use strict['\"]|---|\ufeff|$)", re.IGNORECASE
)
# Directives of the preprocessor that may stand before a file's first comment.
_GUARD: Final = re.compile(r"\s*#\s*(?:(?:if|ifndef|ifdef|endif|pragma)\b.*|define\b\s*\S+\s*$)")
_DIRECTIVE: Final = re.compile(r"\s*#\s*[a-z]+\b")
C_SUFFIXES: Final = frozenset(
    {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc", ".m", ".mm"}
)


def leading_comments(text: str, suffix: str) -> list[str]:
    """Return the lines of the comments before the first code of ``text``, without their marks.

    A blank line, and one that only has marks, is ``""``. In C the lines of an include guard may stand before a comment,
    in prose only blocks are comments; at most the first 4,096 characters are looked at.
    """
    comments: list[str] = []
    closed_by = ""
    for line in text[:HEAD_CHARACTERS].split("\n", _HEAD_LINES)[:_HEAD_LINES]:
        content, behind = line, ""
        if closed_by:
            if closed_by in _QUOTES and line[:1].isspace():  # an example in a docstring
                continue
        elif suffix in C_SUFFIXES and _DIRECTIVE.match(line):
            if not _GUARD.match(line):
                break
            continue
        elif (opened := _OPENED.match(line)) and (
            suffix not in _PROSE or opened["line"] in (None, ".. ")
        ):
            content = line[opened.end() :]
            closed_by = _BLOCKS.get(opened["block"] or "", "")
        elif _PREAMBLE.match(line):
            content = ""
        else:
            break
        if closed_by and closed_by in content:
            content, _, behind = content.partition(closed_by)
            closed_by = ""
        comments.append(content.strip(" \t\r*#/;=-+|!%~_"))
        if behind.strip():  # code behind a comment
            break
    return comments


# What package managers write: the exact versions of everything that a project depends on.
LOCK_FILES: Final = frozenset(
    (
        ".terraform.lock.hcl", "Cargo.lock", "Cartfile.resolved", "Chart.lock", "Gemfile.lock", "MODULE.bazel.lock",
        "Package.resolved", "Pipfile.lock", "Podfile.lock", "buf.lock", "bun.lock", "composer.lock", "conda-lock.yml",
        "deno.lock", "flake.lock", "gems.locked", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock",
        "npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "pdm.lock", "pixi.lock", "pnpm-lock.yaml",
        "poetry.lock", "pubspec.lock", "uv.lock", "yarn.lock",
    )
)  # fmt: skip
# Characters of a banner that are quoted: longer ones hold command lines.
_QUOTED: Final = 120
# Characters before and behind a banner in which it may ask not to edit, or take back what it says.
_AROUND: Final = 240
# Of a minified text at least, and of one of its lines on average: nobody writes such lines.
_MINIFIED_CHARACTERS, _MINIFIED_LINE = 5_000, 500
# In which is looked for what a compiler writes into the last line; only the name of the file itself counts there,
# since tests of such tools hold others.
_END: Final = 300
_COMMENT: Final = ("/*", "*", "//")
# Banners of C and C++ that do not say "generated", as all others do: looked for first, few files have any.
_C_HINTS: Final = ("GNU Bison", "Meta object code")

_FILE: Final = r"(?:file|code|source|module|header|document|script|package|class|makefile)"
_BY_MACHINE: Final = r"(?:auto(?:matically)?|machine)[- ]*generated"
# A generator or its input: what a tool has laid out once, for its user to go on with, names none.
_PATH: Final = (
    r"[`'\"]?(?:[\w$.-]+/[\w./$-]+|[\w-]+\.(?:pl|py|rb|sh|go|js|mjs|ts|awk|lua|rs"
    r"|in|y|l|g4|proto|idl|xml|ya?ml|json|tmpl|rules|td)\b)"
)
_SURE: Final = (
    r"Code generated .*DO NOT EDIT\b",
    r"(?:.{0,60}\b(?:is|was|automatically|code|file) )?@generated(?![\w-])",
    rf"(?:This|The) {_FILE} (?:is|was|has been) (?:\w+ )?{_BY_MACHINE}\b",
    rf"This (?:\w+ )?{_FILE} (?:is|was|has been) {_BY_MACHINE}\b",
    rf"This {_FILE} (?:is|was|has been) (?:automatically )?generated (?:automatically )?"
    rf"(?:by|from|with|using) (?:\w+ ){{0,3}}{_PATH}",
    rf"{_BY_MACHINE} (?:by|from|with|using) \S",
    r"<auto-?generated\b",
    r"Generated by (?:the protocol buffer compiler|the gRPC|Cython\b|GNU Autoconf|javadoc|Doxygen)",
    r"Generated (?:from .* )?by ANTLR\b",
    r"Autogenerated by Thrift",
    r"A Bison parser, made by GNU Bison",
    r".{0,40}\bgenerated (?:automatically )?by (?:automake|aclocal|autoconf)\b",
    r"Meta object code from reading C\+\+ file",
)
# What generators write too, and authors of templates and migrations: it counts beside ``_NO_EDIT``.
_LIKELY: Final = (
    rf"{_BY_MACHINE}\b",
    r"(?:Code )?Generated (?:by|from|with|using|on|file|code|automatically)\b",
    rf"This {_FILE} (?:is|was|has been) (?:\w+ ){{0,2}}generated\b",
    rf"This is an? (?:\w+[- ])?generated {_FILE}",
    r"(?:This is )?(?:an? )?GENERATED (?:FILE|CODE)\b",
)
_REQUEST: Final = re.compile(
    r"[\s;:,.!*—–-]+(?:please )?do not (?:edit|modify)\b.{0,40}$", re.IGNORECASE
)
_NO_EDIT: Final = re.compile(
    r"(?:do not|don't|not to|never|not be|should not|must not) (?:\w+ ){0,3}?(?:edit|modif|change|touch|alter)"
    r"|(?:changes|edits|modifications)\b[^.]{0,60}\b(?:lost|overwritten|discarded)",
    re.IGNORECASE,
)
# What else such a sentence says where the file is somebody's own by now, or only a part of it is generated.
_TAKEN_BACK: Final = re.compile(
    r"\b(?:originally|initially|partial(?:ly)?|partly|parts of|portions of|some of|sections? of|hand[- ]edited"
    r"|(?:then|and|later) (?:\w+ )?(?:edited|modified|adapted)|(?:may|can|free to|safe to|should) (?:now )?"
    r"(?:edit|modify|customi[sz]e|adapt)|(?:edit|below|beneath|above|between|after) this (?:line|point|comment|marker)"
    r"|(?:generated|this) (?:section|region|block)|init\b|cookiecutter|scaffold)",
    re.IGNORECASE,
)


def generated_reason(path: str, text: str) -> str:
    """Return why the file is taken for generated, ``""`` where it is not: a kind of file, or a line of it, quoted."""
    name = path[path.rfind("/") + 1 :]
    if name in LOCK_FILES:
        return "lock file"
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in TELLING_SUFFIXES and (kind := _by_suffix(suffix, path, text)):
        return kind
    if not text:
        return ""
    head = text[:HEAD_CHARACTERS]
    has_hint = "enerated" in head or "ENERATED" in head
    if has_hint or (suffix in C_SUFFIXES and any(hint in head for hint in _C_HINTS)):
        return _banner(leading_comments(text, suffix))
    return ""


def _banner(lines: list[str]) -> str:
    # The line of the comments that says they stand in a generated file.
    text = "\n".join(" ".join(line.split()) for line in lines)
    for sure, banners in ((True, _SURE), (False, _LIKELY)):
        for match in _at_line_or_sentence(banners).finditer(text):
            around = text[max(0, match.start() - _AROUND) : match.end() + _AROUND]
            if (
                _begins_sentence(text, match.start())
                and (sure or _NO_EDIT.search(around))
                and not _TAKEN_BACK.search(around)
            ):
                return _quoted(text, match.start())
    return ""


@cache
def _at_line_or_sentence(banners: tuple[str, ...]) -> re.Pattern[str]:
    # On first use, since most runs of the program meet none.
    return re.compile(rf"(?:^|(?<=[.!?:;>] ))(?:{'|'.join(banners)})", re.MULTILINE | re.IGNORECASE)


def _begins_sentence(text: str, start: int) -> bool:
    # Behind another one, or with a capital in a new line.
    before = text[:start].rstrip(" ")
    if not before.endswith("\n"):
        return True
    above = before[:-1].rpartition("\n")[2]
    return not above or above[-1] in ".!?:;>,)" or text[start].isupper() or text[start] in "@<"


def _quoted(text: str, start: int) -> str:
    # Without the request not to edit, which is clear from where it is shown.
    line = _REQUEST.sub("", text[start:].partition("\n")[0])
    shown = line if len(line) <= _QUOTED else f"{line[: _QUOTED - 3].rstrip()}..."
    return f'"{printable(shown)}"'


def _compiled(path: str, text: str) -> str:
    # A script or a style sheet made small, by its name or its few long lines, or with a source map beside it.
    if path.rpartition(".")[0].endswith((".min", "-min")):
        return "minified"
    if len(text) >= max(_MINIFIED_CHARACTERS, (text.count("\n") + 1) * _MINIFIED_LINE):
        code = [
            line for line in text.split("\n") if line and not line.lstrip().startswith(_COMMENT)
        ]
        long = sum(len(line) >= _MINIFIED_LINE for line in code)
        if len(code) - long <= long + 1:
            return "minified"
    map_name = f"{path[path.rfind('/') + 1 :]}.map"
    _, mark, target = text[-_END:].rpartition("sourceMappingURL=")
    return "compiled" if mark and target.split(maxsplit=1)[:1] == [map_name] else ""


def _by_suffix(suffix: str, path: str, text: str) -> str:
    if suffix in _COMPILED:
        return _compiled(path, text)
    if suffix == ".map":
        return "source map" if text.lstrip()[:1] == "{" and '"mappings"' in text else ""
    if suffix == ".pyi":  # of a module made by ``protoc``, which writes no banner into it
        return "protobuf" if path.endswith(("_pb2.pyi", "_pb2_grpc.pyi")) else ""
    return "snapshot" if "__snapshots__/" in path else ""


_COMPILED: Final = frozenset({".js", ".mjs", ".cjs", ".css"})
# Suffixes of files whose names may tell that they are generated; beside them only ``LOCK_FILES`` do.
TELLING_SUFFIXES: Final = _COMPILED | {".map", ".snap", ".ambr", ".pyi"}
