"""Rules for ready and blocked beads."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from aggregate.project.beads import Bead, Dependency, Hidden, assess, completion_order, hidden

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
EARLIER = NOW - timedelta(days=1)


def bead(id_: str, *needs: str, **fields: object) -> Bead:
    """Return a bead; a need is ``target``, ``kind:target`` or ``kind:target:gate``."""
    dependencies = []
    for need in needs:
        kind, target, gate = (f"blocks:{need}:" if ":" not in need else f"{need}:").split(":")[:3]
        dependencies.append(Dependency(target, kind, gate))
    return Bead(id_, id_, dependencies=tuple(dependencies), **fields)  # type: ignore[arg-type]


def ready_ids(*beads: Bead) -> str:
    return " ".join(standing.bead.id for standing in assess(beads, now=NOW) if standing.ready)


def blockers(*beads: Bead) -> dict[str, tuple[str, ...]]:
    return {
        standing.bead.id: standing.blockers
        for standing in assess(beads, now=NOW)
        if standing.blockers
    }


CHILD = "parent-child:p"


@pytest.mark.parametrize(
    ("beads", "expected"),
    [
        pytest.param([bead("a")], "a", id="open"),
        pytest.param([bead("a", status="in_progress")], "", id="begun"),
        pytest.param(
            [bead("a", status="closed"), bead("b", status="done"), bead("c", status="completed")],
            "",
            id="done",
        ),
        pytest.param([bead("a", status="frozen")], "", id="custom status"),
        pytest.param([bead("a", pinned=True)], "", id="pinned"),
        pytest.param([bead("a", ephemeral=True)], "", id="ephemeral"),
        *(
            pytest.param([bead("a", issue_type=kind)], "", id=kind)
            for kind in ("merge-request", "gate", "molecule", "message", "agent", "role", "rig")
        ),
        pytest.param([bead("a", issue_type="epic"), bead("b", issue_type="own")], "a b", id="other types"),
        pytest.param([bead("a", defer_until=LATER), bead("b", defer_until=NOW)], "b", id="deferred"),
        pytest.param([bead("p", defer_until=LATER), bead("c", CHILD)], "", id="deferred parent"),
        pytest.param([bead("p", defer_until=EARLIER), bead("c", CHILD)], "c p", id="parent deferred in the past"),
        pytest.param(
            [bead("p", defer_until=LATER), bead("c", CHILD), bead("g", "parent-child:c")],
            "g",
            id="deferred grandparent",
        ),
        pytest.param([bead("a", "b"), bead("b")], "b", id="blocks"),
        pytest.param([bead("a", "conditional-blocks:b"), bead("b")], "b", id="conditional-blocks"),
        pytest.param(
            [bead("a", "related:b", "discovered-from:b", "tracks:b"), bead("b")],
            "a b",
            id="other relations",
        ),
        pytest.param([bead("a", "b"), bead("b", status="closed")], "a", id="closed blocker"),
        pytest.param([bead("a", "b"), bead("b", status="completed")], "a", id="completed blocker"),
        pytest.param([bead("a", "b"), bead("b", status="pinned")], "a", id="blocker with status pinned"),
        pytest.param([bead("a", "b"), bead("b", status="hooked")], "", id="hooked blocker"),
        pytest.param([bead("a", "gone", "external")], "a", id="missing blocker"),
        pytest.param([bead("a", "b"), bead("b", "a")], "", id="circle"),
        pytest.param([bead("p"), bead("c", CHILD)], "c p", id="open parent"),
    ],
)  # fmt: skip
def test_ready(beads: list[Bead], expected: str) -> None:
    """Each rule of ready work on a minimal project (M-52, M-X14)."""
    assert ready_ids(*beads) == expected


def test_blockers_are_named() -> None:
    """Blockers are listed in the order of dependencies, with a blocked parent."""
    beads = [bead("x"), bead("y", status="closed"), bead("p", "x"), bead("c", CHILD, "y", "x", "x")]
    assert blockers(*beads) == {"p": ("x",), "c": ("p", "x")}


def test_order() -> None:
    """Beads are sorted by priority, newest first, then by id."""
    beads = [
        bead("e", priority=1),
        bead("d", priority=1, created_at=EARLIER),
        bead("c", priority=1, created_at=NOW),
        bead("b", priority=1, created_at=NOW),
        bead("f", priority=2, created_at=LATER),
        bead("a", priority=0),
    ]
    assert ready_ids(*beads) == "a b c d e f"


def test_order_of_the_completed() -> None:
    """Completed beads are appended, so the text before them stays."""
    beads = [
        bead(id_, status="closed", closed_at=time)
        for id_, time in (("c", LATER), ("b", NOW), ("a", NOW), ("z", None))
    ]
    assert [item.id for item in completion_order([*beads, bead("open")])] == ["z", "a", "b", "c"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (bead("a"), None),
        (bead("a", issue_type="molecule"), None),
        (bead("a", pinned=True), Hidden.PINNED),
        (bead("a", status="pinned"), Hidden.PINNED),
        (bead("a", template=True), Hidden.TEMPLATE),
        (bead("a", ephemeral=True), Hidden.EPHEMERAL),
        *(
            (bead("a", issue_type=kind), Hidden.INFRASTRUCTURE)
            for kind in ("gate", "message", "agent", "role", "rig")
        ),
    ],
)
def test_hidden(item: Bead, reason: Hidden | None) -> None:
    """Beads hidden by bd list are hidden here too, with reasons (M-52)."""
    assert hidden(item) == reason


IDS = st.sampled_from("abcdefgh")
NEEDS = st.builds(
    lambda kind, target, gate: f"{kind}:{target}:{gate}",
    st.sampled_from(["blocks", "parent-child", "waits-for", "related"]),
    IDS,
    st.sampled_from(["", "any-children"]),
)
PROJECTS = st.dictionaries(
    IDS,
    st.tuples(
        st.lists(NEEDS, max_size=3), st.sampled_from(["open", "in_progress", "closed", "pinned"])
    ),
).map(
    lambda project: [bead(id_, *needs, status=status) for id_, (needs, status) in project.items()]
)


def naive_blocked(beads: list[Bead]) -> set[str]:
    """Return the blocked beads by repeated passes, as in the definition."""
    known = {item.id: item for item in beads}
    done = {item.id for item in beads if item.status in ("closed", "pinned")}
    blocked: set[str] = set()

    def holds(need: Dependency) -> bool:
        children = [
            c
            for c in beads
            if any(n == Dependency(need.target, "parent-child", n.gate) for n in c.dependencies)
        ]
        opened = need.gate == "any-children" and any(child.status == "closed" for child in children)
        return (
            (need.kind == "blocks" and need.target in known and need.target not in done)
            or (
                need.kind == "waits-for"
                and not opened
                and any(child.id not in done for child in children)
            )
            or (need.kind == "parent-child" and need.target in blocked)
        )

    for _ in beads:
        blocked |= {
            item.id for item in beads if item.id not in done and any(map(holds, item.dependencies))
        }
    return blocked


@given(PROJECTS)
def test_blocked_agrees_with_the_definition(beads: list[Bead]) -> None:
    """On any graph, even with circles, the blocked beads match the definition."""
    assert set(blockers(*beads)) == naive_blocked(beads)
