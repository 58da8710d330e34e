"""A process that analyses files: batches of what reading them gave come in, packed analyses go out."""

import gc
import pickle

from aggregate.compose.known_files import KnownFile
from aggregate.concurrency.pipes import serve_requests
from aggregate.sources.file_content import SourceFile

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""A hundred times what is usual: some ten megabytes."""


def serve() -> None:
    """Answer batches until standard input ends."""
    # Hardly anything here makes cycles, and looking for them often takes some percent of the time.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    serve_requests(_analyse_batch)


def _analyse_batch(request: bytes) -> bytes:
    batch: list[tuple[str, SourceFile]] = pickle.loads(request)  # noqa: S301 - a private pipe from the parent
    packed = [KnownFile.of(path, source).pack() for path, source in batch]
    return pickle.dumps(packed, protocol=pickle.HIGHEST_PROTOCOL)
