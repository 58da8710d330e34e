"""Elixir: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = r'''
# Parcels and how they are weighed.
defmodule Post.Parcel do
  @moduledoc """
  A parcel, with its weight.

      def not_a_function, do: 1
  """
  use Agent
  alias Post.Scale
  import Post.Units, only: [grams: 1]

  @limit 30
  @type t :: %__MODULE__{weight: integer}
  @callback scaled(integer) :: integer

  defstruct [:content, weight: 1]

  @doc "Weighs a parcel."
  @spec weigh(t, integer) :: integer
  def weigh(parcel, factor \\ 1)

  def weigh(%{weight: weight}, factor) when factor > 1 do
    # In grams.
    Scale.round(weight * factor)
  rescue
    error -> raise(error)
  end

  def weigh(parcel, _factor), do: parcel.weight

  defp heavy?(parcel) do
    parcel.weight > @limit
  end

  defmacro parcel(name) do
    quote do
      def unquote(name)(), do: 1
    end
  end

  defguard is_heavy(weight) when weight > 30
  defdelegate open(scale), to: Scale

  def left + right do
    %{left | weight: left.weight + right.weight}
  end

  defmodule Error do
    defexception [:message]
  end
end

defprotocol Post.Scaled do
  def scaled(item)
end

defimpl Post.Scaled, for: Post.Parcel do
  def scaled(parcel), do: parcel.weight
end

defmodule Post.ParcelTest do
  use ExUnit.Case

  describe "weigh/2" do
    test "counts once", %{parcel: parcel} do
      assert Post.Parcel.weigh(parcel) == 1
    end
  end
end
'''[1:]

SKELETON = r'''
# Parcels and how they are weighed.
defmodule Post.Parcel do
  @moduledoc """
  A parcel, with its weight.

      def not_a_function, do: 1
  """
  use Agent
  alias Post.Scale
  import Post.Units, only: [grams: 1]

  @limit 30
  @type t :: %__MODULE__{weight: integer}
  @callback scaled(integer) :: integer

  defstruct [:content, weight: 1]

  @doc "Weighs a parcel."
  @spec weigh(t, integer) :: integer
  def weigh(parcel, factor \\ 1)

  def weigh(%{weight: weight}, factor) when factor > 1 do ... end

  def weigh(parcel, _factor), do: parcel.weight

  defp heavy?(parcel) do ... end

  defmacro parcel(name) do ... end

  defguard is_heavy(weight) when weight > 30
  defdelegate open(scale), to: Scale

  def left + right do ... end

  defmodule Error do
    defexception [:message]
  end
end

defprotocol Post.Scaled do
  def scaled(item)
end

defimpl Post.Scaled, for: Post.Parcel do
  def scaled(parcel), do: parcel.weight
end

defmodule Post.ParcelTest do
  use ExUnit.Case

  describe "weigh/2" do
    test "counts once", %{parcel: parcel} do ... end
  end
end
'''[1:]

OUTLINE = r"""
2-51   defmodule Post.Parcel
13-13    @type t :: %__MODULE__{weight: integer}
14-14    @callback scaled(integer) :: integer
16-16    defstruct [:content, weight: 1]
20-20    def weigh(parcel, factor \\ 1)
22-27    def weigh(%{weight: weight}, factor) when factor > 1
29-29    def weigh(parcel, _factor)
31-33    defp heavy?(parcel)
35-39    defmacro parcel(name)
41-41    defguard is_heavy(weight) when weight > 30
42-42    defdelegate open(scale), to: Scale
44-46    def left + right
48-50    defmodule Error
49-49      defexception [:message]
53-55  defprotocol Post.Scaled
54-54    def scaled(item)
57-59  defimpl Post.Scaled, for: Post.Parcel
58-58    def scaled(parcel)
61-69  defmodule Post.ParcelTest
64-68    describe "weigh/2"
65-67      test "counts once", %{parcel: parcel}
"""[1:]

SUMMARY = """\
elixir, 69 lines, 5 modules, 1 type, 1 callback, 2 structs, 9 functions, 1 operator, 1 suite, 1 test
Parcels and how they are weighed.
imports: Agent, Post.Scale, Post.Units, ExUnit.Case
defmodule Post.Parcel: t, scaled, weigh, heavy?, parcel, is_heavy, open, +
  defstruct [:content, weight: 1]
  defmodule Error
    defexception [:message]
defprotocol Post.Scaled: scaled
defimpl Post.Scaled, for: Post.Parcel: scaled
defmodule Post.ParcelTest
  suite weigh/2: counts once
"""


def test_skeleton() -> None:
    """Blocks of functions, macros and tests are cut; docs, specs and bodies behind a keyword stay (M-33)."""
    assert skeleton_of("a.ex", SAMPLE) == SKELETON
    check_skeleton("a.ex", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.ex", SAMPLE) == OUTLINE
    assert summary_of("a.ex", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"Post.Parcel.weigh": "sig"},
            "def weigh(parcel, factor \\\\ 1)\n\n  def weigh(%{weight: weight}, factor) when factor > 1\n\n  def weigh(parcel, _factor),",
        ),
        (
            {"Post.Parcel.heavy?": "def"},
            "defp heavy?(parcel) do\n    parcel.weight > @limit\n  end",
        ),
        (
            {"Post.Scaled.scaled": "sig", "weigh/2": "sig"},
            'def scaled(item)\n\n  def scaled(parcel),\n\ndescribe "weigh/2"',
        ),
        ({"Post.Parcel.gone": "def"}, "ERROR: symbol not found: Post.Parcel.gone in a.ex"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A name stands for all clauses, by its path through modules, protocols and their implementations (M-35, M-X15)."""
    assert masked_of("a.ex", SAMPLE, mask) == expected
