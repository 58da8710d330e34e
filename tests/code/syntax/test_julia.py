"""Julia: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = '''\
"""
Parcels and how they are weighed.
"""
module Parcels

using Printf, Base.Threads
import Scales: round
export weigh
include("scale.jl")

const LIMIT = 30

abstract type Item{T} end
primitive type Grams 32 end

"A parcel."
struct Parcel{T<:Real} <: Item{T}
    weight::T
    Parcel(weight) = new{Float64}(weight)
    function Parcel(text::String)
        # From its label.
        new{Int}(length(text))
    end
end

"""
    weigh(parcel)

Weighs a parcel.
"""
function weigh(parcel::Parcel{T}; factor=1)::T where {T}
    text = "end # end"
    return parcel.weight * factor
end

function reset end

function Base.show(io::IO, parcel::Parcel)
    print(io, parcel.weight)
end

heavy(parcel) = parcel.weight > LIMIT
Base.:+(a::Parcel, b::Parcel) = Parcel(a.weight + b.weight)

total(parcels) = begin
    amounts = map(weigh, parcels)
    sum(amounts)
end

macro grams(number)
    quote
        Grams($number)
    end
end

end
'''

SKELETON = '''\
"""
Parcels and how they are weighed.
"""
module Parcels

using Printf, Base.Threads
import Scales: round
export weigh
include("scale.jl")

const LIMIT = 30

abstract type Item{T} end
primitive type Grams 32 end

"A parcel."
struct Parcel{T<:Real} <: Item{T}
    weight::T
    Parcel(weight) = new{Float64}(weight)
    function Parcel(text::String)
        # ...
    end
end

"""
    weigh(parcel)

Weighs a parcel.
"""
function weigh(parcel::Parcel{T}; factor=1)::T where {T}
    # ...
end

function reset end

function Base.show(io::IO, parcel::Parcel)
    # ...
end

heavy(parcel) = parcel.weight > LIMIT
Base.:+(a::Parcel, b::Parcel) = Parcel(a.weight + b.weight)

total(parcels) = begin
    # ...
end

macro grams(number)
    # ...
end

end
'''

OUTLINE = """\
4-56   module Parcels
13-13    abstract type Item{T} end
14-14    primitive type Grams 32 end
17-24    struct Parcel{T<:Real} <: Item{T}
19-19      Parcel(weight)
20-23      function Parcel(text::String)
31-34    function weigh(parcel::Parcel{T}; factor=1)::T where {T}
36-36    function reset
38-40    function Base.show(io::IO, parcel::Parcel)
42-42    heavy(parcel)
43-43    Base.:+(a::Parcel, b::Parcel)
45-48    total(parcels)
50-54    macro grams(number)
"""

SUMMARY = """\
julia, 56 lines, 1 module, 2 types, 1 struct, 8 functions, 1 macro
Parcels and how they are weighed.
imports: Printf, Base.Threads, Scales, scale.jl
module Parcels: Item, Grams, weigh, reset, show, heavy, :+, total, grams
  struct Parcel{T<:Real} <: Item{T}: Parcel
"""


def test_skeleton() -> None:
    """What stands between a signature and its end is cut; docs and functions that are equations stay (M-33)."""
    assert skeleton_of("a.jl", SAMPLE) == SKELETON
    check_skeleton("a.jl", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.jl", SAMPLE) == OUTLINE
    assert summary_of("a.jl", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"Parcels.weigh": "sig"}, "function weigh(parcel::Parcel{T}; factor=1)::T where {T}"),
        (
            {"Base.show": "def"},
            "function Base.show(io::IO, parcel::Parcel)\n    print(io, parcel.weight)\nend",
        ),
        (
            {"Parcels.Parcel.Parcel": "sig", "grams": "sig"},
            "Parcel(weight)\n\n    function Parcel(text::String)\n\nmacro grams(number)",
        ),
        ({"amounts": "def"}, "ERROR: symbol not found: amounts in a.jl"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A function is found by its name, one of another module by its path too (M-35, M-X15)."""
    assert masked_of("a.jl", SAMPLE, mask) == expected
