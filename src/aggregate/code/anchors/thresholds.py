"""Every number that capturing and relocating rest on, in one frozen value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers of the room.

    What is worth points says how many more slices of a hundred are found rightly than without it, measured by
    ``simulation/anchor_ablation.py`` over six histories (flask, gin, express, ripgrep, gson, zod; 2,874 slices).
    """

    window_lines: int = 32
    """Lines above and below a slice whose fingerprints are kept: 0.7 points against four."""
    anchor_lines: int = 4
    """Telling lines above and below whose text is kept (LHDiff, ICSM 2013, takes four): 1.0 points."""
    end_lines: int = 12
    """Lines at each end of a slice whose text is kept: 0.4 points; all lines of longer slices are worth nothing."""
    stored_characters: int = 200
    """A bound: longer lines are known by their fingerprint, so that no minified file lands in the configuration."""

    context_fade: float = 6
    """Distance in lines at which a line of context weighs half as much as the nearest one: 0.3 points."""
    context_drift: float = 16
    """Displacement in lines at which a line of context counts half: 0.3 points."""
    trivial_weight: float = 0.1
    """Weight of a brace or blank beside a telling line: at 1 a line that moved is taken for its copy."""
    unbroken_bonus: float = 0.5
    """Bonus of a side on which no line of the whole text changed: 0.3 points."""

    scored_places: int = 128
    """A bound on the places that are scored; where there are more, those with equal neighbours only."""
    copy_context: float = 0.5
    """Context that one of several copies needs: a guard against taking one copy for another."""
    lead: float = 0.15
    """Lead in context that makes one of several places the right one: at 0.25 it finds 0.2 to 0.7 points less."""

    likeness: float = 0.5
    """Likeness that a place needs: without it 4.3 points more are found, and as many wrong places again."""
    held_likeness: float = 0.4
    """Likeness that is enough between the very lines that stood above and below: at 0.5 it finds 0.8 points less."""
    kept_share: float = 0.7
    """Share of its telling lines that a slice must have kept where it grew beyond likeness: 0.4 points."""
    seedless_context: float = 0.35
    """Context that a place needs of whose slice no rare line is left: 0.9 points against taking none of these."""

    line_likeness: float = 0.5
    """Likeness from which a changed line is still that line: pairing changed lines is worth 9.0 points."""
    fill_cells: int = 1 << 21
    """A bound on filling a gap (old lines times new lines); beyond, only its two ends are compared: 0.8 points."""
    compared_pairs: int = 20_000
    """A bound on the pairs of changed lines that are compared, smallest gaps first: about 0.2 s."""
    compared_characters: int = 240
    """A bound on what is compared of a line: more is worth nothing."""


THRESHOLDS = Thresholds()
