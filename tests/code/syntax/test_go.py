"""Go: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
// Package store keeps parcels.
package store

import (
	"fmt"
	log "io"
)

const limit, Depth = 3, 4

var hook = func(n int) int {
	return n + 1
}

var table = map[string]func(){
	"a": func() {
		fmt.Println("leak")
	},
}

type (
	Parcel struct {
		Weight int
	}
	Weigher interface {
		Weigh(p Parcel) (int, error)
	}
)

type Pair[K comparable, V any] struct {
	Key K
}

type Alias = Parcel

// Weigh has a receiver.
func (p *Parcel) Weigh(
	factor int,
) (total int, err error) {
	local := func() int { return 1 }
	return local() * factor, nil
}

func (p Pair[K, V]) Swap() {}

func Map[T any](in []T, f func(T) T) []T {
	type hidden struct{}
	return in
}

func native(x int) int
"""

SKELETON = """\
// Package store keeps parcels.
package store

import (
	"fmt"
	log "io"
)

const limit, Depth = 3, 4

var hook = func(n int) int { /* ... */ }

var table = map[string]func(){
	"a": func() { /* ... */ },
}

type (
	Parcel struct {
		Weight int
	}
	Weigher interface {
		Weigh(p Parcel) (int, error)
	}
)

type Pair[K comparable, V any] struct {
	Key K
}

type Alias = Parcel

// Weigh has a receiver.
func (p *Parcel) Weigh(
	factor int,
) (total int, err error) { /* ... */ }

func (p Pair[K, V]) Swap() {}

func Map[T any](in []T, f func(T) T) []T { /* ... */ }

func native(x int) int
"""

OUTLINE = """\
22-24  Parcel struct
25-27  Weigher interface
26-26    Weigh(p Parcel) (int, error)
30-32  type Pair[K comparable, V any] struct
34-34  type Alias = Parcel
37-42  func (p *Parcel) Weigh(factor int) (total int, err error)
44-44  func (p Pair[K, V]) Swap()
46-49  func Map[T any](in []T, f func(T) T) []T
51-51  func native(x int) int
"""

SUMMARY = """\
go, 51 lines, 2 structs, 1 interface, 3 methods, 1 type, 2 functions
Package store keeps parcels.
imports: fmt, io
constants: limit, hook, table
Parcel struct
Weigher interface: Weigh
type Pair[K comparable, V any] struct
types: Alias
methods: Parcel.Weigh, Pair.Swap
functions: Map, native
"""


def test_skeleton() -> None:
    """Bodies are cut out of functions, wherever they stand; all else stays byte for byte (M-33)."""
    assert skeleton_of("a.go", SAMPLE) == SKELETON
    check_skeleton("a.go", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.go", SAMPLE) == OUTLINE
    assert summary_of("a.go", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"Parcel.Weigh": "sig"},
            ("func (p *Parcel) Weigh(\n\tfactor int,\n) (total int, err error)"),
        ),
        (
            {"store.Map": "def"},
            ("func Map[T any](in []T, f func(T) T) []T {\n\ttype hidden struct{}\n\treturn in\n}"),
        ),
        (
            {"Pair": "def", "Swap": "sig"},
            ("type Pair[K comparable, V any] struct {\n\tKey K\n}\n\nfunc (p Pair[K, V]) Swap()"),
        ),
        (
            {"Weigher": "hide", "Weigher.Weigh": "sig"},
            "Weigh(p Parcel) (int, error)",
        ),
        (
            {"Parcel.missing": "def"},
            "ERROR: symbol not found: Parcel.missing in a.go",
        ),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A symbol stands for all its overloads, by name or path; a local name is no symbol (M-35, M-X15)."""
    assert masked_of("a.go", SAMPLE, mask) == expected
