"""Source text to definitions: grammars, parsing, and one query file per language."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.code.syntax.definitions import Definition, Module
    from aggregate.code.syntax.language_table import LANGUAGES, Language, LanguageKind
    from aggregate.code.syntax.languages import (
        HOW_TO_INSTALL,
        TAG_BY_NAME,
        TAG_BY_SUFFIX,
        fence_tag,
        language_of,
        naming_class,
        telling_names,
        uninstalled_language_of,
    )
    from aggregate.code.syntax.parsing import shared_parse
    from aggregate.code.syntax.references import SyntaxReference, read_references
    from aggregate.code.syntax.symbols import read_definitions, read_module
else:
    __getattr__ = door(
        __name__,
        {
            "definitions": "Definition Module",
            "language_table": "LANGUAGES Language LanguageKind",
            "languages": "HOW_TO_INSTALL TAG_BY_NAME TAG_BY_SUFFIX fence_tag language_of naming_class telling_names uninstalled_language_of",
            "parsing": "shared_parse",
            "references": "SyntaxReference read_references",
            "symbols": "read_definitions read_module",
        },
    )
