"""Detect generated files by name and by their first lines.

The rules are those of https://go.dev/s/generatedcode and banners of common generators. A mere mention of generated code
does not count. So a banner must be in the comments before the first code, at the beginning of a sentence; an ambiguous
one also needs a request not to edit nearby.
"""

import re
from functools import cache
from typing import Final

from aggregate.base.text.invisible import printable

HEAD_CHARACTERS: Final = 4096  # searched: a usual licence and the text after it
_HEAD_LINES: Final = 80
# Ends of block comments and docstrings by their beginnings.
_BLOCKS: Final = {
    "/*": "*/", "<!--": "-->", "(*": "*)", "{-": "-}", "--[[": "]]", "#|": "|#", "<#": "#>", "{#": "#}",
    "<%--": "--%>", "=begin": "=end", '"""': '"""', "'''": "'''",
}  # fmt: skip
_QUOTES: Final = ('"""', "'''")
# Prose, where comment marks at a line's start are headings or lists.
_PROSE: Final = frozenset({".md", ".markdown", ".mdx", ".rst", ".adoc", ".html", ".htm", ".txt"})
_OPENED: Final = re.compile(
    r"\s*(?:[rRuU]?(?P<block>" + "|".join(map(re.escape, _BLOCKS)) + r")|(?P<line>/{2,}[/!]?|#+!?"
    r"|--+|;+|%+|!+|dnl\b|(?i:@?rem\b)|\.\. |\.\\\"))"
)
# Other lines allowed before and between these comments: declarations, blank lines.
_PREAMBLE: Final = re.compile(
    r"\s*(?:<[?!]|@charset\b|@echo\b|['\"]use strict['\"]|---|\ufeff|$)", re.IGNORECASE
)
# Preprocessor directives allowed before a file's first comment.
_GUARD: Final = re.compile(r"\s*#\s*(?:(?:if|ifndef|ifdef|endif|pragma)\b.*|define\b\s*\S+\s*$)")
_DIRECTIVE: Final = re.compile(r"\s*#\s*[a-z]+\b")
C_SUFFIXES: Final = frozenset(
    {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc", ".m", ".mm"}
)


def leading_comments(text: str, suffix: str) -> list[str]:
    """Return the comment lines before a file's first code.

    Comment marks are removed. Blank lines are ``""``. An include guard in C is skipped; in prose only comment blocks
    count. At most 4,096 characters are read.
    """
    comments: list[str] = []
    closed_by = ""
    for line in text[:HEAD_CHARACTERS].split("\n", _HEAD_LINES)[:_HEAD_LINES]:
        content, rest = line, ""
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
            content, _, rest = content.partition(closed_by)
            closed_by = ""
        comments.append(content.strip(" \t\r*#/;=-+|!%~_"))
        if rest.strip():  # code after a comment
            break
    return comments


# Lock files of package managers.
LOCK_FILES: Final = frozenset(
    (
        ".terraform.lock.hcl", "Cargo.lock", "Cartfile.resolved", "Chart.lock", "Gemfile.lock", "MODULE.bazel.lock",
        "Package.resolved", "Pipfile.lock", "Podfile.lock", "buf.lock", "bun.lock", "composer.lock", "conda-lock.yml",
        "deno.lock", "flake.lock", "gems.locked", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock",
        "npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "pdm.lock", "pixi.lock", "pnpm-lock.yaml",
        "poetry.lock", "pubspec.lock", "uv.lock", "yarn.lock",
    )
)  # fmt: skip
_QUOTED: Final = 120  # characters of a quoted banner; longer ones contain command lines
# Characters around a banner, searched for a request not to edit, or a retraction.
_AROUND: Final = 240
# Least characters of a minified text, and average of its lines.
_MINIFIED_CHARACTERS, _MINIFIED_LINE = 5_000, 500
# Last characters, searched for a source map; its name must match, since tests of compilers contain others.
_END: Final = 300
_COMMENT: Final = ("/*", "*", "//")
# Banners of C and C++ without the word "generated".
_C_HINTS: Final = ("GNU Bison", "Meta object code")
_FILE: Final = r"(?:file|code|source|module|header|document|script|package|class|makefile)"
_BY_MACHINE: Final = r"(?:auto(?:matically)?|machine)[- ]*generated"
# A generator or its input; absent in files created once by a tool for the user to continue.
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
# Banners also used by authors of templates and migrations; they only count near ``_NO_EDIT``.
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
# Retractions: the file was edited since, or only a part of it is generated.
_RETRACTION: Final = re.compile(
    r"\b(?:originally|initially|partial(?:ly)?|partly|parts of|portions of|some of|sections? of|hand[- ]edited"
    r"|(?:then|and|later) (?:\w+ )?(?:edited|modified|adapted)|(?:may|can|free to|safe to|should) (?:now )?"
    r"(?:edit|modify|customi[sz]e|adapt)|(?:edit|below|beneath|above|between|after) this (?:line|point|comment|marker)"
    r"|(?:generated|this) (?:section|region|block)|init\b|cookiecutter|scaffold)",
    re.IGNORECASE,
)


def generated_reason(path: str, text: str) -> str:
    """Return why a file counts as generated, by its kind or a quoted line, else ``""``."""
    name = path[path.rfind("/") + 1 :]
    if name in LOCK_FILES:
        return "lock file"
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in _COMPILED and (kind := _compiled(path, text)):
        return kind
    if suffix == ".map" and text.lstrip()[:1] == "{" and '"mappings"' in text:
        return "source map"
    if path.endswith(("_pb2.pyi", "_pb2_grpc.pyi")):  # ``protoc`` writes no banner into them
        return "protobuf"
    if suffix in _SNAPSHOTS and "__snapshots__/" in path:
        return "snapshot"
    if not text:
        return ""
    head = text[:HEAD_CHARACTERS]
    has_hint = "enerated" in head or "ENERATED" in head
    if has_hint or (suffix in C_SUFFIXES and any(hint in head for hint in _C_HINTS)):
        return _banner(leading_comments(text, suffix))
    return ""


def _banner(lines: list[str]) -> str:
    text = "\n".join(" ".join(line.split()) for line in lines)
    for is_sure, banners in ((True, _SURE), (False, _LIKELY)):
        for match in _at_line_or_sentence(banners).finditer(text):
            context = text[max(0, match.start() - _AROUND) : match.end() + _AROUND]
            if not _begins_sentence(text, match.start()) or _RETRACTION.search(context):
                continue
            if is_sure or _NO_EDIT.search(context):
                line = _REQUEST.sub("", text[match.start() :].partition("\n")[0])
                if len(line) > _QUOTED:
                    line = f"{line[: _QUOTED - 3].rstrip()}..."
                return f'"{printable(line)}"'
    return ""


@cache
def _at_line_or_sentence(banners: tuple[str, ...]) -> re.Pattern[str]:
    # Compiled on first use, since most runs find no banner.
    return re.compile(rf"(?:^|(?<=[.!?:;>] ))(?:{'|'.join(banners)})", re.MULTILINE | re.IGNORECASE)


def _begins_sentence(text: str, start: int) -> bool:
    # After another sentence, or with a capital on a new line.
    prefix = text[:start].rstrip(" ")
    if not prefix.endswith("\n"):
        return True
    above = prefix[:-1].rpartition("\n")[2]
    return not above or above[-1] in ".!?:;>,)" or text[start].isupper() or text[start] in "@<"


def _compiled(path: str, text: str) -> str:
    """Return why a script or style sheet counts as compiled.

    The reason is ``minified`` (a name or long lines), ``compiled`` (a source map) or ``""``.
    """
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


_COMPILED: Final = frozenset({".js", ".mjs", ".cjs", ".css"})
_SNAPSHOTS: Final = frozenset({".snap", ".ambr"})
# Suffixes of files recognizable as generated by name, like ``LOCK_FILES``.
TELLING_SUFFIXES: Final = _COMPILED | _SNAPSHOTS | {".map", ".pyi"}
