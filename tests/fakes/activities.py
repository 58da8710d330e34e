"""A small service of sport activities on this machine, and the tools that ask it: a stand-in for a real one.

The server answers on 127.0.0.1 only. Its data are made by arithmetic, so that every run sees the same: 48 activities in
January 2024, 63 in September 2025 of which 28 are runs, and a feed of the newest 50.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

from aggregate.agents.tools import Permission, Tool, make_tool
from tests.fakes.http_server import QuietHandler, serving

JANUARY = (1704067200, 1706745599)
SEPTEMBER = (1756684800, 1759276799)
FIRST = (
    ("Morning Snowboard", 57944.4, "31"),
    ("Lunch Snowboard", 44090.3, "30"),
    ("Morning Snowboard", 46589.7, "29"),
)
"""The newest three of January 2024, as the documents show them."""
PEOPLE = ("Ann", "Bo", "Cy", "Dee", "Eli", "Flo", "Gus")
HOUR = 3600


@cache
def activities() -> tuple[dict[str, Any], ...]:
    """Return all activities, the newest first."""
    september = (_activity(2000 + n, *_september(n)) for n in range(63))
    january = (_activity(1000 + n, *_january(n)) for n in range(48))
    return tuple(sorted((*september, *january), key=lambda one: -one["start_unix"]))


def _september(n: int) -> tuple[str, str, float, int]:
    # The last one is a run at six in the evening of the last day: a range that ends at its midnight would miss it.
    kind = "Run" if n % 9 in (0, 2, 4, 8) else "Ride"
    start = SEPTEMBER[1] - (62 - n) * 11 * HOUR - 6 * HOUR
    return f"Day {n % 30 + 1} {kind}", kind, 5000.0 + 130.5 * n, start


def _january(n: int) -> tuple[str, str, float, int]:
    if n >= 45:
        name, distance, day = FIRST[47 - n]
        start = int(datetime(2024, 1, int(day), 9, tzinfo=UTC).timestamp())
        return name, "Snowboard", distance, start
    kind = ("Snowboard", "Hike")[n % 2]
    return f"Session {n + 1}", kind, 3000.0 + 77.7 * n, JANUARY[0] + n * 14 * HOUR


def _activity(number: int, name: str, sport: str, distance: float, start: int) -> dict[str, Any]:
    moment = datetime.fromtimestamp(start, UTC)
    return {
        "name": name,
        "distance": round(distance, 1),
        "moving_time": int(distance / 3),
        "sport_type": sport,
        "id": number,
        "start_date": moment.date().isoformat(),
        "start_unix": start,
        "kudos_count": number % 4,
        "map": {"polyline": f"{number:04d}abcdefghijklmnop" * 95},
    }


def kudos(number: int) -> list[dict[str, str]]:
    """Return who liked an activity."""
    return [{"firstname": PEOPLE[(number + k) % len(PEOPLE)]} for k in range(number % 4)]


def _answer(path: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
    """Answer ``/activities?after=&before=&per_page=``, ``/activities/<id>/kudos`` and ``/feed``."""
    match path:
        case ["activities"]:
            after, before = (
                int(query.get(key, [default])[0])
                for key, default in (("after", "0"), ("before", "9" * 10))
            )
            most = int(query.get("per_page", ["200"])[0])
            return 200, [one for one in activities() if after <= one["start_unix"] <= before][:most]
        case ["activities", number, "kudos"] if any(
            str(one["id"]) == number for one in activities()
        ):
            return 200, kudos(int(number))
        case ["feed"]:
            return 200, [{**one, "kudos": kudos(one["id"])} for one in activities()[:50]]
    return 404, {"message": "Record Not Found"}


@dataclass(frozen=True, slots=True)
class Service:
    """A running server, and the paths that it was asked for."""

    url: str
    requests: list[str]


@contextmanager
def service() -> Iterator[Service]:
    """Run the server on a free port while the block runs."""
    requests: list[str] = []

    class Server(QuietHandler):
        def take(self) -> None:
            """Answer one request as JSON."""
            requests.append(self.path)
            parts = urlsplit(self.path)
            status, body = _answer(parts.path.strip("/").split("/"), parse_qs(parts.query))
            self.answer(status, json.dumps(body).encode(), content_type="application/json")

    with serving(Server) as port:
        yield Service(f"http://127.0.0.1:{port}", requests)


def activity_tools(url: str) -> tuple[Tool, ...]:
    """Return the tools that ask the service at ``url``; they need the permission ``network``."""

    def get(path: str, **query: int | None) -> Any:
        text = urlencode({key: value for key, value in query.items() if value is not None})
        with urlopen(f"{url}/{path}?{text}", timeout=10) as answer:  # noqa: S310 - http to this machine
            return json.load(answer)

    def getMyActivities(  # noqa: N802 - tools are camelCase
        after: int | None = None, before: int | None = None, per_page: int | None = None
    ) -> dict[str, Any]:
        """Fetch my activities in a range of time, the newest first.

        Args:
            after: Unix timestamp of the start, inclusive.
            before: Unix timestamp of the end, inclusive.
            per_page: How many at the most.
        """
        found = get("activities", after=after, before=before, per_page=per_page)
        return {"success": True, "activities": found, "count": len(found)}

    def getActivityKudos(activity_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Get the people who gave kudos to one activity.

        Args:
            activity_id: Its id.
        """
        found = get(f"activities/{activity_id}/kudos")
        return {"success": True, "kudos": found, "count": len(found)}

    def getDashboardFeed() -> list[dict[str, Any]]:  # noqa: N802 - tools are camelCase
        """Get the newest activities of the dashboard feed, with their kudos."""
        found: list[dict[str, Any]] = get("feed")
        return found

    functions = (getMyActivities, getActivityKudos, getDashboardFeed)
    return tuple(make_tool(one, permissions=Permission.NETWORK) for one in functions)
