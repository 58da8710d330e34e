"""What a second look at the likeliest files has picked, as evidence of its own kind (rule T-10)."""

from aggregate.ranking.evidence import Evidence, PieceKey, lift
from aggregate.ranking.inquiry import Candidates, Inquiry, keys, pieces_of


def picked(inquiry: Inquiry, candidates: Candidates) -> tuple[Evidence, Evidence]:
    """Return what is picked; not scaled to its best, since a low confidence is one also where none is higher."""
    files: dict[int, float] = {}
    pieces: dict[PieceKey, float] = {}
    whys: dict[int, str] = {}
    names: dict[int, str] = {}
    for path, name, confidence, why in inquiry.question.picks:
        file = inquiry.paths.numbers[path]
        if not name:
            lift(files, [file], confidence)
            whys.setdefault(file, why)
            continue
        analysis = candidates.get(file)  # a file without pieces is none
        for place, definition in enumerate(analysis.definitions if analysis else ()):
            if analysis and ".".join(definition.path) == name:
                lift(pieces, keys(file, pieces_of(analysis, place, inner=True)), confidence)
                names[file] = ", ".join(filter(None, (names.get(file), name)))
    return (
        Evidence("picked", files=files, matched=whys),
        Evidence("picked definition", pieces=pieces, matched=names),
    )
