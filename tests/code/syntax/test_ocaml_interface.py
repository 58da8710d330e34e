"""Interfaces of OCaml: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
(** Parcels and how they are weighed. *)

open Base

exception Heavy of int

type 'a parcel = { weight : int; mutable content : 'a }
type t

(** Weighs a parcel. *)
val weigh : ?factor:int -> scale:Scale.t -> 'a parcel -> int

val ( ++ ) : 'a parcel -> 'a parcel -> int
external raw : int -> int = "raw_weight"

module type Scaled = sig
  val scaled : t -> int -> int
end

module Make (Item : Scaled) : sig
  val twice : Item.t -> int
end
"""

OUTLINE = """\
5-5    exception Heavy of int
7-7    type 'a parcel
8-8    type t
11-11  val weigh : ?factor:int -> scale:Scale.t -> 'a parcel -> int
13-13  val ( ++ ) : 'a parcel -> 'a parcel -> int
14-14  external raw : int -> int = "raw_weight"
16-18  module type Scaled
17-17    val scaled : t -> int -> int
20-22  module Make (Item : Scaled)
21-21    val twice : Item.t -> int
"""

SUMMARY = """\
ocaml_interface, 22 lines, 1 exception, 2 types, 5 functions, 1 signature, 1 module
Parcels and how they are weighed.
imports: Base
module type Scaled: scaled
module Make (Item : Scaled): twice
exceptions: Heavy
types: parcel, t
functions: weigh, ( ++ ), raw
"""


def test_skeleton() -> None:
    """An interface has no bodies: it stays as it is (M-33)."""
    assert skeleton_of("a.mli", SAMPLE) == SAMPLE
    check_skeleton("a.mli", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.mli", SAMPLE) == OUTLINE
    assert summary_of("a.mli", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"weigh": "def"}, "val weigh : ?factor:int -> scale:Scale.t -> 'a parcel -> int"),
        ({"Make.twice": "def"}, "val twice : Item.t -> int"),
        ({"Scaled": "def"}, "module type Scaled = sig\n  val scaled : t -> int -> int\nend"),
        ({"gone": "sig"}, "ERROR: symbol not found: gone in a.mli"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """What is declared is found by its name or path (M-35, M-X15)."""
    assert masked_of("a.mli", SAMPLE, mask) == expected
