"""Groups of files for an overview of a project, and its tree (rule T-12)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final, NamedTuple

from aggregate.base.files import ViewMode
from aggregate.prompt.corpus.file_corpus import FileCorpus
from aggregate.prompt.files.file import File
from aggregate.prompt.fit.entry_order import CHARACTERS_PER_TOKEN
from aggregate.prompt.sections.folders import describing_files, first_sentence, large_folders
from aggregate.prompt.sections.tree import Tree
from aggregate.ranking import PathKind, RankedFile, kinds_of

Files = Sequence[tuple[int, File, ViewMode, RankedFile]]  # candidates, the likeliest first
PART_BESIDE: Final = 0.05  # part of the budget for tests, examples and the like
_PART_OF_FOLDERS = 0.7  # part of the budget for large folders, by their code
_MOST_FOLDERS = 14
_MOST_REPEATED = (
    2  # folders that may show the same first sentence; a more common one describes none of them
)


class OverviewGroups(NamedTuple):
    """Files of an overview by group, as numbers, the likeliest first."""

    introductions: list[int]
    folders: list[tuple[list[int], float]]  # large folders, each with its part of the budget
    beside: list[int]  # tests, examples and the like
    others: list[int]


def overview_groups(
    files: Files, corpus: FileCorpus, introductions: Iterable[int]
) -> OverviewGroups:
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
    """Return the tree of all files, with a sentence about each folder."""
    numbers = {file.path: number for number, file, _, _ in files}
    describing = describing_files([*numbers])
    texts = {
        folder: [(path, corpus.text(numbers[path])) for path in describing.get(folder, ())]
        for folder in Tree([*numbers]).folders
    }
    sentences = _sentences(texts)
    counts = Counter(filter(None, sentences.values()))
    repeated = {sentence for sentence, count in counts.items() if count > _MOST_REPEATED}
    alike = {folder: texts[folder] for folder in texts if sentences[folder] in repeated}
    return Tree([*numbers], sentences | _sentences(alike, repeated))


def _sentences(
    texts: Mapping[str, Sequence[tuple[str, str]]], repeated: Set[str] = frozenset()
) -> dict[str, str]:
    sentences = {}
    for folder, files in texts.items():
        candidates = (first_sentence(path, text, repeated=repeated) for path, text in files)
        sentences[folder] = next(filter(None, candidates), "")
    return sentences
