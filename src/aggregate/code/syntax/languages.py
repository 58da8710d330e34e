"""Which language a file is in, by its name, its suffix or its first line."""

import re
from functools import cache

from aggregate.code.syntax.language_table import LANGUAGES, Language

TAG_BY_SUFFIX = {
    ".bat": "bat", ".cfg": "ini", ".clj": "clojure", ".cmake": "cmake", ".conf": "ini",
    ".csv": "csv", ".desktop": "ini", ".diff": "diff", ".erl": "erlang",
    ".fs": "fsharp", ".gradle": "groovy", ".graphql": "graphql", ".groovy": "groovy",
    ".ini": "ini", ".less": "less", ".mk": "makefile", ".nim": "nim", ".patch": "diff",
    ".proto": "protobuf", ".ps1": "powershell", ".r": "r", ".rst": "rst", ".sass": "sass",
    ".scm": "scheme", ".scss": "scss", ".sql": "sql", ".svg": "xml", ".tsv": "tsv",
    ".xml": "xml",
}  # fmt: skip
TAG_BY_NAME = {
    ".editorconfig": "ini", ".gitattributes": "gitattributes", ".gitconfig": "ini",
    ".gitignore": "gitignore", ".gitmodules": "ini", "cmakelists.txt": "cmake",
    "gnumakefile": "makefile",
    "makefile": "makefile",
}  # fmt: skip
TAG_BY_INTERPRETER = {
    "awk": "awk", "gawk": "awk", "groovy": "groovy",
    "make": "makefile", "pwsh": "powershell", "rscript": "r",
    "tclsh": "tcl",
}  # fmt: skip


HOW_TO_INSTALL = "pip install 'manual-slop[languages]'"

_HEADER_IS_CPP = re.compile(
    r"^[ \t]*(?:namespace\b|template[ \t]*<|class[ \t]+\w|(?:public|private|protected)[ \t]*:|using[ \t]+\w)",
    re.MULTILINE,
)

_HEADER_IS_OBJECTIVE_C = re.compile(r"^[ \t]*@(?:class|import|interface|protocol)\b", re.MULTILINE)
# MATLAB's files have the same suffix, and none of these.
_IS_OBJECTIVE_C = re.compile(
    r"^[ \t]*(?:@(?:class|import|interface|implementation|protocol)\b|#[ \t]*(?:import|include)\b|//|/\*)",
    re.MULTILINE,
)

_LONGEST_SHEBANG = 256  # as much as a system reads of it


def language_of(path: str, text: str = "") -> Language | None:
    """Return the language of the file at ``path``, or ``None`` where no grammar of it is installed."""
    language = _language_at(path, text)
    if language is None or not language.is_installed:
        return None
    if language.name == "objectivec" and text and not _IS_OBJECTIVE_C.search(text):
        return None
    if language.name == "c" and path.lower().endswith(".h"):
        objective_c = language_named("objectivec")
        if objective_c and objective_c.is_installed and _HEADER_IS_OBJECTIVE_C.search(text):
            return objective_c
        return (language_named("cpp") if _HEADER_IS_CPP.search(text) else None) or language
    return language


def naming_class(path: str) -> str:
    """Return all of a path that ``language_of`` and ``fence_tag`` go by; beside that only the text counts."""
    by_name, by_suffix, _ = _index()
    name, suffix = _name_and_suffix(path)
    language = by_name.get(name) or by_suffix.get(suffix)
    return f"{suffix} {language.name if language else _plain_tag(name, suffix) or '?'}"


@cache
def telling_names() -> frozenset[str]:
    """Return the file names, in lower case, that tell of a language or a kind of file more than their suffixes do."""
    by_name, _, _ = _index()
    return frozenset((*by_name, *TAG_BY_NAME))


def uninstalled_language_of(path: str, text: str = "") -> Language | None:
    language = _language_at(path, text)
    return None if language is None or language.is_installed else language


def language_named(name: str) -> Language | None:
    return next((language for language in LANGUAGES if language.name == name), None)


def fence_tag(path: str, text: str = "") -> str:
    """Return the tag for a fence around ``text``, the file at ``path``; ``"text"`` where nothing better is known."""
    language = _language_at(path, text)
    if language is not None:
        return language.fence
    tag = _plain_tag(*_name_and_suffix(path))
    if tag is None and text.startswith("#!"):
        tag = TAG_BY_INTERPRETER.get(_interpreter(text))
    return tag or "text"


def _language_at(path: str, text: str) -> Language | None:
    by_name, by_suffix, by_interpreter = _index()
    name, suffix = _name_and_suffix(path)
    language = by_name.get(name) or by_suffix.get(suffix)
    if language is None and text.startswith("#!") and not _plain_tag(name, suffix):
        language = by_interpreter.get(_interpreter(text))
    return language


def _plain_tag(name: str, suffix: str) -> str | None:
    return TAG_BY_NAME.get(name) or TAG_BY_SUFFIX.get(suffix)


def _interpreter(text: str) -> str:
    words = text[2:_LONGEST_SHEBANG].partition("\n")[0].split()
    if words and words[0].rpartition("/")[2] == "env":
        rest = (word.removeprefix("-S").removeprefix("--split-string=") for word in words[1:])
        words = [word for word in rest if word and word[0] != "-" and "=" not in word]
    program = words[0].replace("\\", "/").rpartition("/")[2].lower() if words else ""
    return program.removesuffix(".exe").rstrip(".0123456789")


def _name_and_suffix(path: str) -> tuple[str, str]:
    name = path[path.rfind("/") + 1 :].lower()
    dot = name.rfind(".")
    return name, name[dot:] if dot > 0 else ""


@cache
def _index() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language]]:
    by_name = {name: language for language in LANGUAGES for name in language.names}
    by_suffix = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
    by_interpreter = {
        program: language for language in LANGUAGES for program in language.interpreters
    }
    return by_name, by_suffix, by_interpreter
