"""OCaml: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
(** Parcels and how they are weighed. *)

open Base
module Weights = Map.Make (String)

exception Heavy of int

type 'a parcel = { weight : int; mutable content : 'a }
and size = Small | Large of int

type weights = int Weights.t

let limit = 30

(** Weighs a parcel. *)
let weigh ?(factor = 1) ~scale (parcel : 'a parcel) : int =
  let rounded = parcel.weight * factor in
  Scale.round scale rounded

let rec count = function
  | [] -> 0
  | _ :: rest -> 1 + count rest

and heavy parcel = parcel.weight > limit
let ( ++ ) left right = left.weight + right.weight

module type Scaled = sig
  type t

  val scaled : t -> int -> int
end

module Make (Item : Scaled) = struct
  let twice item = Item.scaled item 2
end

external raw : int -> int = "raw_weight"

class depot size =
  object (self)
    val mutable parcels = []
    method add parcel = parcels <- parcel :: parcels
  end

let () = print_endline "let x = 1"
"""

SKELETON = """\
(** Parcels and how they are weighed. *)

open Base
module Weights = Map.Make (String)

exception Heavy of int

type 'a parcel = { weight : int; mutable content : 'a }
and size = Small | Large of int

type weights = int Weights.t

let limit = 30

(** Weighs a parcel. *)
let weigh ?(factor = 1) ~scale (parcel : 'a parcel) : int =
  ( (* ... *) )

let rec count = ( (* ... *) )

and heavy parcel = ( (* ... *) )
let ( ++ ) left right = ( (* ... *) )

module type Scaled = sig
  type t

  val scaled : t -> int -> int
end

module Make (Item : Scaled) = struct
  let twice item = ( (* ... *) )
end

external raw : int -> int = "raw_weight"

class depot size =
  object (self)
    val mutable parcels = []
    method add parcel = ( (* ... *) )
  end

let () = print_endline "let x = 1"
"""

OUTLINE = """\
4-4    module Weights
6-6    exception Heavy of int
8-8    type 'a parcel
9-9    and size
11-11  type weights = int Weights.t
13-13  let limit
16-18  let weigh ?(factor = 1) ~scale (parcel : 'a parcel) : int
20-22  let rec count
24-24  and heavy parcel
25-25  let ( ++ ) left right
27-31  module type Scaled
28-28    type t
30-30    val scaled : t -> int -> int
33-35  module Make (Item : Scaled)
34-34    let twice item
37-37  external raw : int -> int = "raw_weight"
39-43  class depot size
42-42    method add parcel
"""

SUMMARY = """\
ocaml, 45 lines, 2 modules, 1 exception, 4 types, 2 values, 6 functions, 1 signature, 1 class, 1 method
Parcels and how they are weighed.
imports: Base
module Weights
module type Scaled: t, scaled
module Make (Item : Scaled): twice
class depot size: add
exceptions: Heavy
types: parcel, size, weights
values: limit, count
functions: weigh, heavy, ( ++ ), raw
"""


def test_skeleton() -> None:
    """Bodies of functions and methods are cut; types, values and what runs at the start stay (M-33)."""
    assert skeleton_of("a.ml", SAMPLE) == SKELETON
    check_skeleton("a.ml", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.ml", SAMPLE) == OUTLINE
    assert summary_of("a.ml", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"weigh": "sig"}, "let weigh ?(factor = 1) ~scale (parcel : 'a parcel) : int"),
        ({"Make.twice": "def"}, "let twice item = Item.scaled item 2"),
        (
            {"heavy": "sig", "Scaled.scaled": "def"},
            "and heavy parcel\n\nval scaled : t -> int -> int",
        ),
        ({"rounded": "def"}, "ERROR: symbol not found: rounded in a.ml"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """What is defined together is found one by one, members by their path; a local name is none (M-35, M-X15)."""
    assert masked_of("a.ml", SAMPLE, mask) == expected
