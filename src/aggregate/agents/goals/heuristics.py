"""What the words of a step say, without a model: no noun of any field is built in."""

import re
from dataclasses import dataclass
from typing import Final

from aggregate.agents.tools.tool import Tool

_STOP: Final = """
a an the of for in on to from at by with and or as is are was were be each every all my our your their its it this that
these those them i me we you into using use then which who what how do did have has had any some one only just also both
up out if there not no
"""
_VAGUE: Final = """
data result item list output information info detail answer thing content record value entry everything previous needed
relevant properly accordingly
"""
STOP: Final = frozenset(_STOP.split())
# Words that name nothing in particular
VAGUE: Final = frozenset(_VAGUE.split())
_END: Final = re.compile(
    r"\s+(?:that|which|who|with|having|in|from|to|and|or|of|on|by|for|as|at|using|into|is|are|has|have|was|were|where"
    r"|when|if|then|so|but|now|again|once|separately|individually|please)\b.*|[^\w\s'-].*",
    re.DOTALL | re.IGNORECASE,
)
_EACH: Final = re.compile(
    r"\b(?:each|every)\s+(?:single\s+|one\s+)?(?:of\s+)?(?:(?:the|my|our|your|these|those)\s+)?(?P<rest>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_ALL: Final = re.compile(
    r"\ball\s+(?:of\s+)?(?:(?:the|my|our|your|these|those)\s+)?(?P<rest>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_PARTS: Final = re.compile(
    r"\b(?:start and end|both|and also|as well as|along with)\b", re.IGNORECASE
)
_COMPOUND: Final = re.compile(r"\bthen\b|;|\n|(?:^|\s)[1-9][.)]\s", re.IGNORECASE)
# Words after "each" that may name an item, as in "each long bike ride"
_NOUN_WORDS: Final = 3
# Sentences for the split of a goal by what its text, lower-case, holds
_ADVICE: Final = (
    (r"\b(?:how many|count|number of)\b", "Count with code, in one step, never by reading."),
    (r"\b(?:only|where|filter|that (?:has|have|are|is)|with|without|more than|less than|at least)\b",
     "Filter with code."),
    (r"\b(?:all|every|each|total|sum|average)\b", "Fetch everything once, then compute over all of it."),
    (r"\b(?:today|yesterday|week|month|year|january|february|march|april|may|june|july|august|september|october"
     r"|november|december|\d{4}|last \d+ days?|since|between)\b",
     "Convert the dates to timestamps first, fetch that range once, then analyse."),
)  # fmt: skip


def words(text: str) -> list[str]:
    """Return the words of a text or of a camelCase name, lower-case, in the singular."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return [singular(word) for word in re.findall(r"[^\W_]+", spaced.lower())]


def singular(word: str) -> str:
    """Return a word without the ending of a regular plural: ``activities`` becomes ``activity``."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def significant_words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP]


@dataclass(frozen=True, slots=True)
class Iteration:
    """What a step is to be done for: the words as they stand, ``each activity``, and the ``noun`` in the singular."""

    phrase: str
    noun: str


def find_iteration(step: str) -> Iteration | None:
    """Return what ``each``, ``every`` or ``all`` with a plural says, by whole words (rules D-21, D-28)."""
    each = _EACH.search(step)
    match = each or _ALL.search(step)
    if match is None:
        return None
    noun_phrase = _END.sub("", match.group("rest")).split()[:_NOUN_WORDS]
    if not each:
        # Up to the first plural: "all activities", not "all day".
        plurals = [
            n for n, word in enumerate(noun_phrase, 1) if singular(word.lower()) != word.lower()
        ]
        noun_phrase = noun_phrase[: plurals[0]] if plurals else []
    if not noun_phrase:
        return None
    last_word = noun_phrase[-1]
    end = step.index(last_word, match.start("rest")) + len(last_word)
    noun = last_word.lower().removesuffix("'s").removesuffix("s'").strip("'-")
    return Iteration(step[match.start() : end], singular(noun))


def has_parts(step: str, tool: Tool | None) -> bool:
    """Return whether a step may be several ones of the same kind (rule P9).

    By its words, or since it names several of the one thing that the tool takes; never where the tool takes or gives
    both ends by itself.
    """
    if tool is not None:
        both_ends = {"start", "end"}
        parameter_names = " ".join(parameter.name for parameter in tool.parameters)
        tool_words = set(words(f"{tool.name} {tool.description} {parameter_names}"))
        if both_ends <= set(words(step)) and both_ends <= tool_words:
            return False
    if _PARTS.search(step):
        return True
    required = tool.required if tool else ()
    if len(required) != 1 or required[0].type == "list":
        return False
    name = required[0].name.lower()
    step_words = re.findall(r"\w+", step.lower())
    return any(word != name and singular(word) == name for word in step_words)


def is_compound(goal: str) -> bool:
    """Return whether a sub-task's goal names several steps; otherwise it is one, without a question."""
    return _COMPOUND.search(goal) is not None


def is_vague(step: str) -> bool:
    """Return whether a step names nothing that it works on: ``Process the data`` (rule P3)."""
    after_verb = significant_words(step)[1:]
    return all(word in VAGUE for word in after_verb)


def advice(goal: str) -> str:
    """Return advice for the split of a goal, from its words alone (rule P0)."""
    text = goal.lower()
    sentences = [sentence for pattern, sentence in _ADVICE if re.search(pattern, text)]
    return " ".join(sentences) or "none"
