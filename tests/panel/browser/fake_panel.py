"""A fake server of the panel's protocol, within the browser's own requests."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, Request, Route

ORIGIN = "http://127.0.0.1:9"  # the discard port: nothing answers there but the routes below
POLICY = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'"
STATIC = Path(__file__).parents[3] / "src/aggregate/panel/static"
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
}
VIEWS = ["full", "summary", "skeleton", "outline", "none", "custom", "masked"]

SOURCE = [
    "class Shop:",
    "    def buy(self, what):",
    "        return self.till.pay(what)",
    "",
    "    def sell(self, what):",
    "        return self.till.take(what)",
]


class FakePanel:
    """A project in memory, the edits received, and a prompt of any length.

    Attributes:
        files: Rows of the tree by path.
        prompt: The prompt without its text.
        posts: Each POST as ``(route, body)``.
        refusals: Sentences to refuse with, by route; a conflict where they begin with ``conflict:``.
        source: The lines of each file, with its ``colours``.
    """

    def __init__(
        self, paths: list[str], *, lines: int = 60, source: list[str] | None = None
    ) -> None:
        self.files = {path: _row() for path in sorted(paths)}
        self.source = source or SOURCE
        self.definitions = _definitions()
        self.slices: list[dict[str, Any]] = []
        self.colours: list[str] = []
        self.state = _state()
        self.prompt = _prompt(sorted(paths), lines)
        self.posts: list[tuple[str, Any]] = []
        self.refusals: dict[str, str] = {}
        self.requests: list[str] = []

    def serve(self, page: Page) -> None:
        """Answer the page's requests; others are refused and listed in ``requests``."""
        page.route("**/*", self._answer)

    def bodies(self, route: str) -> list[Any]:
        """Return the bodies posted to a route, oldest first."""
        return [body for name, body in self.posts if name == route]

    def changed_on_disk(self) -> None:
        """Count a new revision; the page learns of it when it reconnects."""
        self.state["revision"] += 1
        self.state["composed"] = self.state["revision"]
        self.prompt["revision"] = self.state["revision"]

    def _answer(self, route: Route, request: Request) -> None:
        url = urlsplit(request.url)
        self.requests.append(request.url)
        if f"{url.scheme}://{url.netloc}" != ORIGIN:
            route.abort()
        elif url.path.startswith("/api/"):
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            self._api(route, request, url.path.removeprefix("/api/"), query)
        else:
            path = STATIC / (url.path.removeprefix("/static/") if url.path != "/" else "index.html")
            headers = {"Content-Type": TYPES[path.suffix], "Content-Security-Policy": POLICY}
            route.fulfill(body=path.read_bytes(), headers=headers)

    def _api(self, route: Route, request: Request, name: str, query: dict[str, str]) -> None:
        if name == "events":
            route.fulfill(
                body=f"event: change\ndata: {json.dumps(self._event())}\n\n",
                content_type="text/event-stream",
            )
        elif name == "prompt/text":
            route.fulfill(body="the whole prompt\n", content_type="text/plain")
        elif name == "send":
            self.posts.append((name, request.post_data_json))
            route.fulfill(body=_STREAM, content_type="text/event-stream")
        elif request.method == "POST":
            self._post(route, name, request)
        else:
            route.fulfill(json=self._get(name, query))

    def _post(self, route: Route, name: str, request: Request) -> None:
        assert request.headers.get("x-aggregate") == "1"  # which other sites cannot set
        body = request.post_data_json or {}
        self.posts.append((name, body))
        refusal = self.refusals.get(name)
        if refusal:
            route.fulfill(status=409, json={"error": refusal, "conflict": name == "save"})
            return
        for edit in body.get("edits", []):
            self._edit(edit)
        if name == "screenshot":
            self.state["screenshots"].append(_NEW_SCREENSHOT)
        self.changed_on_disk()
        route.fulfill(json=self._posted(name))

    def _posted(self, name: str) -> Any:
        answers: dict[str, Any] = {
            "save": {"state": self.state, "sentence": "Saved manual_slop.toml."},
            "run": {"path": "out_001.md", "sentence": "Wrote out_001.md, 900 tokens."},
            "fit": {"prompt": self.prompt, "files": self._files()},
            "send/plan": _PLAN,
            "screenshot": {"state": self.state, "path": "screenshots/new.png"},
            "send/stop": {},
        }
        return answers.get(name, self.state)

    def _edit(self, edit: dict[str, Any]) -> None:
        self.state["dirty"] = self.state["can_undo"] = True
        if edit["op"] == "view":
            for path in edit["paths"]:
                mode = "" if edit["mode"] == "out" else edit["mode"]
                self.files[path] |= {"view": mode, "mode": mode, "tokens": 100 if mode else 0}
        elif edit["op"] == "mask":
            for definition in self.definitions:
                if definition["name"] == edit["name"]:
                    definition["mask"] = edit["mask"]
        elif edit["op"] == "task":
            self.state["task"]["text"] = edit.get("task", self.state["task"]["text"])
            self.state["task"]["focus"] = edit.get("focus", self.state["task"]["focus"])

    def _get(self, name: str, query: dict[str, str]) -> Any:
        if name == "state":
            return self.state
        if name == "files":
            return self._files()
        if name == "file":
            return self._file(query["path"])
        if name == "prompt":
            return self.prompt
        if name == "prompt/lines":
            return self._lines(int(query["first"]), int(query["last"]))
        return {"line": int(query["line"]) + 3}

    def _event(self) -> dict[str, Any]:
        known = {key: self.state[key] for key in ("version", "revision", "composed")}
        return {**known, "what": "hello", "paths": []}

    def _files(self) -> Any:
        columns = {name: [row[name] for row in self.files.values()] for name in _row()}
        return {
            "revision": self.state["revision"],
            "full": True,
            "removed": [],
            "path": list(self.files),
            **columns,
        }

    def _file(self, path: str) -> dict[str, Any]:
        mode = self.files[path]["view"]
        return {
            "path": path, "revision": self.state["revision"], "language": "python", "mode": mode,
            "view": [self.source[0], "    ..."], "origin": [1, 0], "source": self.source, "entry": path, "by_glob": False,
            "definitions": deepcopy(self.definitions), "slices": self.slices, "sizes": dict.fromkeys(VIEWS, 100), "redacted": [],
            "colours": self.colours, "view_colours": [], "score": None, "evidence": [], "error": "",
        }  # fmt: skip

    def _lines(self, first: int, last: int) -> Any:
        numbers = range(first, min(last, self.prompt["lines"]) + 1)
        starts = {section["first"]: section for section in self.prompt["sections"]}
        path = next(iter(self.files))
        return {
            "revision": self.state["composed"],
            "first": first,
            "lines": [
                starts[n]["title"] if n in starts else f"line {n} <b>of</b> the prompt"
                for n in numbers
            ],
            "colours": ["" for _ in numbers],
            "origins": [None if n in starts else [path, min(n, len(self.source))] for n in numbers],
            "kinds": ["generated" if n in starts else "file" for n in numbers],
            "stands_for": ["heading" if n in starts else "" for n in numbers],
        }


def _row() -> dict[str, Any]:
    known = {"view": "full", "mode": "full", "tokens": 100, "whole": 200}
    return {**known, "score": None, "state": "", "why": ""}


def _definitions() -> list[dict[str, Any]]:
    return [
        {"name": "Shop", "kind": "class", "start": 1, "end": 6, "depth": 0, "mask": ""},
        {"name": "Shop.buy", "kind": "function", "start": 2, "end": 3, "depth": 1, "mask": ""},
        {"name": "Shop.sell", "kind": "function", "start": 5, "end": 6, "depth": 1, "mask": "sig"},
    ]


def _state() -> dict[str, Any]:
    prices = {"input": 3.0, "output": 15.0, "cost": 0.003}
    model = {"name": "acme/large", "window": 200_000, "tokens": 1000, **prices}
    said = {"role": "user", "beginning": "Look at <b>this</b>"}
    turn = {"id": 0, "tokens": 9, "on": True, **said}
    return {
        "version": "v", "revision": 1, "composed": 1, "project": "shop", "root": "/shop", "config": "manual_slop.toml", "exists": True,
        "dirty": False, "can_undo": False, "can_redo": False, "outside": False, "config_problem": "", "views": VIEWS, "strategy": "auto",
        "strategies": ["auto", "summarize", "full"], "preset": "",
        "presets": [{"name": "backend", "description": "", "files": 2}],
        "discussion": {"name": "", "names": [], "turns": [turn]}, "beads": {"on": True, "text": "- a bead", "tokens": 4},
        "screenshots": [{"path": "a.png", "url": "/static/icon.svg", "problem": "", "on": True}],
        "task": {"text": "", "focus": [], "symbols": [], "since": ""}, "budget": None, "budget_tokens": None, "models": [model],
        "personas": [], "prompt": {"tokens": 1000, "bytes": 4000, "lines": 60}, "prompt_error": "", "sections": {"Files": 1000},
        "warnings": ["One file is empty."], "cut": [],
    }  # fmt: skip


def _prompt(paths: list[str], lines: int) -> dict[str, Any]:
    each = max(2, (lines - 2) // min(len(paths), 20))
    part = {"kind": "file", "tokens": 50, "depth": 1}
    parts = [
        {**part, "title": f"### `{path}`", "source": path, "first": 3 + n * each, "last": min(lines, 2 + (n + 1) * each)}
        for n, path in enumerate(paths[:20])
    ]  # fmt: skip
    whole = {
        "title": "## Files",
        "kind": "section",
        "source": "",
        "first": 1,
        "last": lines,
        "tokens": 1000,
        "depth": 0,
    }
    return {
        "revision": 1, "tokens": 1000, "bytes": 4000, "lines": lines, "sections": [whole, *parts], "breakpoints": [5], "kept_until": 10,
        "kept_sentence": "10 lines are as in the last send.", "error": "", "not_entered_count": 1,
        "not_entered": [{"path": paths[-1], "level": "name", "score": 0.1, "why": "less relevant than what fits"}],
    }  # fmt: skip


def stale_slice(
    start: int, end: int, text: str, why: str, candidate: dict[str, int] | None = None
) -> dict[str, Any]:
    """Return a stale slice with a label and a comment."""
    place = {"id": 0, "start": start, "end": end, "candidate": candidate}
    return {**place, "tag": text, "comment": text, "state": "stale", "why": why}


_NEW_SCREENSHOT = {
    "path": "screenshots/new.png",
    "url": "/static/icon.svg",
    "problem": "",
    "on": True,
}
_PLAN: dict[str, Any] = {
    "plan": "p1", "provider": "acme", "model": "large", "address": "", "tokens": 1000, "provider_tokens": 1100,
    "cost": 0.0033, "cached": 400, "window": 200_000, "key": True, "lines": ["system 10", "user 1,090"], "warnings": [],
}  # fmt: skip
_STREAM = "".join(
    f"event: {event}\ndata: {json.dumps(data)}\n\n"
    for event, data in [
        ("text", {"text": "The till <i>is</i> "}),
        ("text", {"text": "empty."}),
        ("done", {"sentence": "Answered for $0.004.", "path": "log", "warnings": []}),
    ]
)
