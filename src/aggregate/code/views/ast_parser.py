"""Views of source texts, for use as a library."""

from dataclasses import dataclass, field

from aggregate.base.concurrency import in_child
from aggregate.base.errors import SyntaxViewError
from aggregate.base.files import ViewMode, ViewRequest
from aggregate.base.text import with_line_feeds
from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.languages import HOW_TO_INSTALL, LANGUAGES, Language, language_named
from aggregate.code.syntax.symbols import read_module
from aggregate.code.views.masked import find_symbol
from aggregate.code.views.rendering import view_of


@dataclass(frozen=True)
class ASTParser:
    """Views of texts in one language (rule M-17).

    The views are skeletons, outlines, definitions and signatures.

    Args:
        language: Name of a language, such as ``python``, ``c`` or ``cpp``.

    Raises:
        SyntaxViewError: The language is unknown, or its grammar is not installed.
    """

    language: str
    _row: Language = field(init=False, repr=False)

    def __post_init__(self) -> None:
        row = language_named(self.language)
        if row is None:
            names = ", ".join(language.name for language in LANGUAGES)
            raise SyntaxViewError(f'unknown language "{self.language}": known are {names}')
        if not row.is_installed:
            raise SyntaxViewError(f"the grammar of {row.name} is not installed: {HOW_TO_INSTALL}")
        object.__setattr__(self, "_row", row)

    def get_skeleton(self, content: str) -> str:
        """Return ``content`` without the bodies of its functions."""
        return view_of(self._request(content, ViewMode.SKELETON)).text

    def get_code_outline(self, content: str) -> str:
        """Return a line for each definition, with its line numbers and signature."""
        return view_of(self._request(content, ViewMode.OUTLINE)).text

    def get_definition(self, content: str, symbol: str) -> str:
        """Return the definitions named ``symbol``, separated by blank lines.

        Raises:
            SyntaxViewError: No definition has the name.
        """
        module, definitions = self._find(content, symbol)
        return "\n\n".join(map(module.whole, definitions))

    def get_signature(self, content: str, symbol: str) -> str:
        """Return the signatures of ``symbol``, separated by blank lines.

        Raises:
            SyntaxViewError: No definition has the name.
        """
        module, definitions = self._find(content, symbol)
        return "\n\n".join(map(module.header, definitions))

    def _find(self, content: str, symbol: str) -> tuple[Module, list[Definition]]:
        module = in_child(read_module, with_line_feeds(content), self._row)
        definitions = find_symbol(module, symbol)
        if not definitions:
            raise SyntaxViewError(f"symbol not found: {symbol}")
        return module, definitions

    def _request(self, content: str, mode: ViewMode) -> ViewRequest:
        return ViewRequest(f"text{self._row.suffixes[0]}", content, mode)
