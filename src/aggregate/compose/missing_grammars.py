"""Files whose languages are known, but whose grammars are not installed."""

from collections import Counter

from aggregate.compose.selection import Note
from aggregate.models.view import ViewRequest
from aggregate.syntax.languages import HOW_TO_INSTALL, uninstalled_language_of
from aggregate.views.dispatch import PARSED


class MissingGrammars:
    """What to tell of such files after a run, once per language: the views take them for files of no known kind."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._files: Counter[str] = Counter()

    def add(self, request: ViewRequest) -> None:
        """Look at a view that is made; one that needs no grammar, or has it, changes nothing."""
        if request.mode not in PARSED:
            return
        language = uninstalled_language_of(request.path, request.text)
        if language is not None:
            self._first.setdefault(language.name, request.path)
            self._files[language.name] += 1

    def notes(self) -> list[Note]:
        """Return a note for each language in the order in which they were met: at its first file, with their number."""
        return [
            (path, _missing(language, self._files[language]))
            for language, path in self._first.items()
        ]


def _missing(language: str, files: int) -> str:
    others = files - 1
    also = f" (and {others:,} more file{'' if others == 1 else 's'})" if others else ""
    return (
        f"shown without its structure{also}, as the grammar of {language} is not installed: "
        f"{HOW_TO_INSTALL}"
    )
