"""Files that are each about one thing, so that a question about one of them has one answer."""

from pathlib import Path

TOPICS = ("kettle", "lantern", "compass", "harbour", "thimble", "orchard")


def module_about(topic: str) -> str:
    return "".join(
        f"def {topic}_{part}(value):\n"
        f'    """Return what the {topic} makes of a value in its {part} part."""\n'
        + "".join(f"    step_{n} = value * {n} + len('{topic} {part}')\n" for n in range(8))
        + "    return step_7\n\n\n"
        for part in ("upper", "lower", "inner")
    )


def add_areas(folder: Path) -> None:
    """Add forty files that are all alike to a question without a topic."""
    for number in range(40):
        (folder / f"area{number}.py").write_text(module_about(f"area{number}"), encoding="utf-8")
