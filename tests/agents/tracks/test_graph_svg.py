"""The picture of a track's tickets."""

from xml.etree import ElementTree

from aggregate.agents.tracks import ReportLine, Ticket
from aggregate.agents.tracks.dependency_graph import dependencies
from aggregate.agents.tracks.graph_svg import graph_svg
from aggregate.base.values import RunStatus

SPACE = "{http://www.w3.org/2000/svg}"


def picture(tickets: list[Ticket]) -> ElementTree.Element:
    """Return the parsed picture of tickets that are done."""
    lines = [ReportLine(ticket, RunStatus.SUCCESS) for ticket in tickets]
    own = [ticket for ticket in tickets if "[" not in ticket.id]
    text = graph_svg(lines, dependencies(own))
    assert text == graph_svg(lines, dependencies(own))
    return ElementTree.fromstring(text)  # noqa: S314 - our own


def boxes(svg: ElementTree.Element) -> dict[str, tuple[int, int]]:
    """Return where the boxes stand, by what they say first."""
    places = {}
    for group in svg.iter(f"{SPACE}g"):
        box, label = group.find(f"{SPACE}rect"), group.find(f"{SPACE}text")
        assert box is not None
        assert label is not None
        places[str(label.text)] = int(box.attrib["x"]), int(box.attrib["y"])
    return places


def test_tickets_stand_right_of_what_they_wait_for() -> None:
    """A column is one step further than the longest way to it, each line is drawn, and no two boxes meet."""
    tickets = [Ticket(id=f"t{i}", prompt="x", depends_on=(f"t{i // 2}",) if i else ()) for i in (0, 2, 1, 3, 4, 5, 6)]  # fmt: skip
    tickets[2] = Ticket(id="t1", prompt="x", depends_on=("t0", "t2"))
    tickets[1] = Ticket(id="t2", prompt="x", depends_on=("t0",))
    svg = picture(tickets)
    places = boxes(svg)
    assert places["t0"][0] < places["t2"][0] < places["t1"][0] < places["t3"][0]
    assert len(set(places.values())) == len(tickets)
    assert len(list(svg.iter(f"{SPACE}path"))) == 7


def test_texts_of_a_stranger() -> None:
    """What a title holds is text, also what XML cannot hold; children are one line in their parent's box."""
    parent = Ticket(id="a", prompt="x", title='<script>"&\x00\x1b', for_each="[1]")
    child = parent.model_copy(update={"id": "a[0]"})
    svg = picture([parent, child])
    assert [each.text for each in svg.iter(f"{SPACE}text")] == ["a", "1 of 1 children done"]
    assert not list(svg.iter(f"{SPACE}script"))


def test_many_tickets() -> None:
    """Long columns are broken, and a way of ten thousand tickets is no deeper than any other."""
    wide = boxes(picture([Ticket(id=f"t{i}", prompt="x") for i in range(200)]))
    assert max(y for _, y in wide.values()) < 2_000
    chain = [Ticket(id=f"t{i}", prompt="x", depends_on=(f"t{i - 1}",) if i else ()) for i in range(3_000)]  # fmt: skip
    assert len(boxes(picture(chain))) == 3_000
