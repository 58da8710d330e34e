"""What an overview shows of a project: groups of files by what a newcomer needs, and the tree (rule T-12)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from aggregate.base.files import ViewMode
from aggregate.prompt.file_corpus import FileCorpus
from aggregate.prompt.fit.steps import CHARACTERS_PER_TOKEN
from aggregate.prompt.sections.folders import describing_files, first_sentence, large_folders
from aggregate.prompt.sections.tree import Tree
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import PathKind, RankedFile, kinds_of

# The likeliest first: the number of each in the corpus, and the most that is shown of it.
Files = Sequence[tuple[int, ResolvedFile, ViewMode, RankedFile]]
PART_BESIDE: Final = 0.05  # Of what is spent, for the code of tests, examples and the like
_PART_OF_FOLDERS, _MOST_FOLDERS = (
    0.7,
    14,
)  # The part that folders get by their code, and how many do


class OverviewGroups(NamedTuple):
    """Numbers of files, the likeliest of each group first."""

    introductions: list[int]  # what a newcomer reads first
    folders: list[tuple[list[int], float]]  # large folders, each with its part of what is spent
    beside: list[int]  # tests, examples and the like
    others: list[int]


def overview_groups(
    files: Files, corpus: FileCorpus, introductions: Iterable[int]
) -> OverviewGroups:
    """Group the files of an overview."""
    kinds, first = kinds_of(corpus.files), frozenset(introductions)
    groups = OverviewGroups([], [], [], [])
    sources: dict[str, int] = {}
    for number, file, _, ranked in files:
        is_code = corpus.files[number].is_code or file.path.endswith(".ipynb")
        if number in first:
            groups.introductions.append(number)
        elif not ranked.pieces or not is_code:
            groups.others.append(number)
        elif kinds[number] is PathKind.SOURCE:
            sources[file.path] = number
        else:
            groups.beside.append(number)
    sizes = {
        path: corpus.files[n].characters // CHARACTERS_PER_TOKEN for path, n in sources.items()
    }
    total = sum(sizes.values()) or 1
    for paths in large_folders(sizes, _MOST_FOLDERS):
        part = _PART_OF_FOLDERS * sum(map(sizes.__getitem__, paths)) / total
        groups.folders.append(([sources[path] for path in paths], part))
    return groups


def overview_tree(files: Files, corpus: FileCorpus) -> Tree:
    """Return the tree of all files, with a sentence of each folder that says what it holds."""
    numbers = {file.path: number for number, file, _, _ in files}
    describing = describing_files([*numbers])
    sentences = {}
    for folder in Tree([*numbers]).folders:
        candidates = (
            first_sentence(path, corpus.text(numbers[path])) for path in describing.get(folder, ())
        )
        sentences[folder] = next(filter(None, candidates), "")
    return Tree([*numbers], sentences)
