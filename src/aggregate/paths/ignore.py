"""The rules of nested ``.gitignore`` files."""

from dataclasses import dataclass

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force in one folder, from the outermost file to the innermost.

    A deeper file wins over a higher one, and within a file the last matching line wins. What stands below an ignored
    folder cannot be re-included, so a walk must not enter one.
    """

    levels: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def below(self, prefix: str, lines: list[str]) -> "IgnoreRules":
        """Return the rules with those of one more file, which lies in the folder ``prefix`` (``""`` or ``a/b/``)."""
        return IgnoreRules((*self.levels, (prefix, GitIgnoreSpec.from_lines(lines))))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether ``path``, relative to the outermost folder, is ignored."""
        for prefix, spec in reversed(self.levels):
            decided = spec.check_file(path[len(prefix) :] + ("/" if is_folder else "")).include
            if decided is not None:
                return decided
        return False
