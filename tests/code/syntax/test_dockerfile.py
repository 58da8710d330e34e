"""Dockerfiles: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = r"""
# syntax=docker/dockerfile:1
# Builds the program.
ARG VERSION=3

FROM golang:${VERSION} AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/cache \
  go build \
    # with all
    ./...
RUN <<EOF
FROM not here
EOF

FROM --platform=linux/amd64 alpine
COPY --from=build /src/app /app
ENV LEVEL=1 MODE="a b"
EXPOSE 80/tcp
ENTRYPOINT ["/app"]
"""[1:]

OUTLINE = r"""
3-3    ARG VERSION=3
5-14   FROM golang:${VERSION} AS build
6-6      WORKDIR /src
7-7      COPY . .
8-11     RUN --mount=type=cache,target=/cache \ go build \ # with all ./...
12-14    RUN <<EOF FROM not here EOF
16-20  FROM --platform=linux/amd64 alpine
17-17    COPY --from=build /src/app /app
18-18    ENV LEVEL=1 MODE="a b"
19-19    EXPOSE 80/tcp
20-20    ENTRYPOINT ["/app"]
"""[1:]

SUMMARY = r"""
dockerfile, 20 lines
syntax=docker/dockerfile:1 Builds the program.
imports: golang:${VERSION}, alpine
ARG VERSION=3
FROM golang:${VERSION} AS build
  WORKDIR /src
  COPY . .
  RUN --mount=type=cache,target=/cache \ go build \ # with all ./...
  RUN <<EOF FROM not here EOF
FROM --platform=linux/amd64 alpine
  COPY --from=build /src/app /app
"""[1:]


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("Dockerfile", SAMPLE) == OUTLINE
    assert summary_of("Dockerfile", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("Dockerfile", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (
            {"build": "sig"},
            "FROM golang:${VERSION} AS build\n\nFROM golang:${VERSION} AS build\n\nWORKDIR /src\n\nCOPY . .\n\nRUN --mount=type=cache,target=/cache \\\n  go build \\\n    # with all\n    ./...\n\nRUN <<EOF\nFROM not here\nEOF",
        ),
        ({"LEVEL": "def"}, 'ENV LEVEL=1 MODE="a b"'),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("Dockerfile", SAMPLE, mask) == text
