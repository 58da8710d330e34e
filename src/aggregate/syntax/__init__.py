"""Source text to definitions: grammars, parsing, and one query file per language."""
