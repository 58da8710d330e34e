"""Parse source text with grammars, and find definitions by a query per language."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.code.syntax.definitions import *
    from aggregate.code.syntax.languages import *
    from aggregate.code.syntax.notebook_cells import *
    from aggregate.code.syntax.parsing import *
    from aggregate.code.syntax.statements import *
    from aggregate.code.syntax.symbols import *
    from aggregate.code.syntax.used_names import *
else:
    __getattr__ = door(
        __name__,
        {
            "definitions": "Definition Module with_headings",
            "languages": "HOW_TO_INSTALL LANGUAGES Language LanguageKind TAGGED_NAMES TAGGED_SUFFIXES comment_of fence_tag language_of naming_class uninstalled_language_of",
            "notebook_cells": "cells_in_place is_compact",
            "parsing": "parse_source query_of shared_parse",
            "statements": "guess_statements read_statements",
            "symbols": "read_definitions read_module",
            "used_names": "read_references SyntaxReference",
        },
    )
