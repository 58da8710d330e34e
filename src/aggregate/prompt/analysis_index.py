"""Where analyses of files and tables over groups of them are kept: by content, by name, by the code that made them."""

import json
import sys
from collections.abc import Sequence
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, naming_class, telling_names
from aggregate.project.index import Kind, code_version
from aggregate.prompt.known_files import KnownFile, KnownGroup

if TYPE_CHECKING:
    from aggregate.project.index import Index

ANALYSIS_CODE = (
    "prompt.analysis_index",
    "prompt.file_reading",
    "prompt.generated_files",
    "prompt.known_files",
    "prompt.redact_prompt",
    "base.concurrency.child_server",  # whose limits decide what is analysed without a grammar
    "base.disk.reading",
    "base.errors",
    "base.values.files",
    "base.values.values",
    "ranking.analyse",
    "ranking.analysis",
    "ranking.corpus",
    "ranking.pieces",
    "ranking.term_groups",
    "ranking.terms",
    "base.redaction",
    "project.files.file_content",
    "code.syntax",
    "base.text",
)
"""Whose code takes part in analysing a file's bytes, and in making tables of that."""
ANALYSIS_LIBRARIES = ("charset_normalizer", "re2", "tree_sitter")
"""What others have made of that: encodings are guessed, secrets and definitions found by them."""
HASH_BYTES: Final = 32
"""Of a content's hash, with which an identity begins."""
_DIGEST_BYTES: Final = 16
"""Of what decides on an analysis besides the content."""
IDENTITY_BYTES: Final = HASH_BYTES + _DIGEST_BYTES
"""Of a file's identity."""


class AnalysisIndex:
    """Finds analyses by what files hold and are called, and groups by what their files hold.

    A file's identity is its content's hash and a digest of what else decides.

    Args:
        index: Where they are kept.
    """

    def __init__(self, index: "Index") -> None:
        self._index = index
        self._digests: dict[tuple[str, str], bytes] = {}
        self._by_suffix: dict[str, bytes] = {}
        self._telling = telling_names() | {name.lower() for name in LOCK_FILES}

    def identity(self, path: str, content_hash: bytes) -> bytes:
        """Return the identity of the file at ``path``.

        Of most names only the suffix counts, which is quickly looked up for a hundred thousand files.
        """
        name = path[path.rfind("/") + 1 :].lower()
        dot = name.rfind(".")
        suffix = name[dot:] if dot > 0 else ""
        if suffix in TELLING_SUFFIXES or name in self._telling or not dot:
            return content_hash + self._digest(path)
        digest = self._by_suffix.get(suffix)
        if digest is None:
            digest = self._by_suffix[suffix] = self._digest(path)
        return content_hash + digest

    def _digest(self, path: str) -> bytes:
        """Return a digest of all of a path that decides on an analysis."""
        traits = naming_class(path), generated_reason(path, "")
        digest = self._digests.get(traits)
        if digest is None:
            asked = json.dumps(traits)
            digest = sha256(asked.encode()).digest()[:_DIGEST_BYTES]
            self._digests[traits] = digest
        return digest

    def files(self, identities: Sequence[bytes]) -> list[KnownFile | None]:
        """Return what is kept of each file."""
        keys = [sha256(identity).digest() for identity in identities]
        rows = self._index.get_many(_file_kind(), keys)
        return [KnownFile.unpack(row) if row else None for row in rows]

    def put_file(self, identity: bytes, packed: bytes) -> None:
        """Keep what is known of a file, packed."""
        self._index.put_many(_file_kind(), [(sha256(identity).digest(), packed)])

    @cached_property
    def settings(self) -> bytes:
        """A digest of all that decides on what is known of a file, besides its content and its name."""
        asked = json.dumps([sys.byteorder, analysis_version()])
        return sha256(asked.encode()).digest()

    def groups(self, keys: Sequence[bytes]) -> list[KnownGroup | None]:
        """Return what is kept of groups, by their ``FileGroup.key``."""
        rows = self._index.get_many(_group_kind(), keys)
        return [KnownGroup(row) if row else None for row in rows]

    def group_terms(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the tables of groups' terms, as far as they are kept."""
        return self._index.get_many(_terms_kind(), keys)

    def put_group(self, key: bytes, group: KnownGroup, terms: bytes) -> None:
        """Keep what is known of a group of files."""
        self._index.put_many(_group_kind(), [(key, group.pack())])
        self._index.put_many(_terms_kind(), [(key, terms)])


@cache
def analysis_version() -> str:
    """Return a version of all that analyses files, ``""`` where it cannot be told."""
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(ANALYSIS_CODE, installed=(*ANALYSIS_LIBRARIES, *sorted(grammars)))


@cache
def _file_kind() -> Kind:
    # Numbers lie as this machine writes them, and a cache folder may be shared with others.
    return Kind(f"analysis:{sys.byteorder}", analysis_version())


@cache
def _group_kind() -> Kind:
    return Kind(f"name group:{sys.byteorder}", analysis_version())


@cache
def _terms_kind() -> Kind:
    return Kind(f"term group:{sys.byteorder}", analysis_version())
