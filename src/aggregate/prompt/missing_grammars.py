"""Files whose languages are known, but whose grammars are not installed."""

from collections import Counter
from collections.abc import Iterable

from aggregate.base.values import ViewRequest
from aggregate.code.syntax import HOW_TO_INSTALL, uninstalled_language_of
from aggregate.code.views import PARSED
from aggregate.prompt.selection import Note


def missing_grammar(request: ViewRequest) -> str:
    """Return the language whose grammar a view lacks: it takes the file for one of no known kind. ``""`` for none."""
    if request.mode not in PARSED:
        return ""
    language = uninstalled_language_of(request.path, request.text)
    return language.name if language else ""


def missing_grammar_notes(files: Iterable[tuple[str, str]]) -> list[Note]:
    """Return a note for each language in the order in which they were met: at its first file, with their number.

    Args:
        files: The paths of such files, each with its language.
    """
    first_paths: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for path, language in files:
        first_paths.setdefault(language, path)
        counts[language] += 1
    return [(path, _sentence(language, counts[language])) for language, path in first_paths.items()]


def _sentence(language: str, files: int) -> str:
    others = files - 1
    also = f" (and {others:,} more file{'' if others == 1 else 's'})" if others else ""
    return (
        f"shown without its structure{also}, as the grammar of {language} is not installed: "
        f"{HOW_TO_INSTALL}"
    )
