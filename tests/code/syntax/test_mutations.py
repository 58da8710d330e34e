"""Programs with one damage each: lost ends and braces, doubled heads, heads split over conditions."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from aggregate import ViewMode
from aggregate.code.syntax import Language, LanguageKind, language_of, read_module, shared_parse
from tests.viewing import SAMPLES, sample, viewed

SLOW = {"cpp", "swift", "tsx", "typescript"}
"""Languages whose patterns take long to compile, or whose grammar is slow."""

CORPUS = {
    "shop.rb": """\
require "set"

module Shop
  class Basket
    def initialize(owner)
      @owner = owner
      @items = []
    end

    def add(item, count: 1)
      return if count.zero?
      @items << item unless item.nil?
      count.times do |n|
        log(n)
      end
    end

    def total = @items.sum

    scope :large, -> { where("total > 9") }

    def price
      value = if @items.empty?
        0
      else
        @items.sum
      end
      value
    end
  end
end

def checkout(basket)
  while basket.open?
    basket.close
  end
end

def refund(basket)
  basket.price * -1
end
""",
    "shop.ex": """\
defmodule Shop.Basket do
  @moduledoc "Baskets."

  def add(basket, item) do
    case item do
      nil -> basket
      _ -> [item | basket]
    end
  end

  defp log(item) do
    Enum.each(item, fn x ->
      IO.puts(x)
    end)
  end

  def total(basket) do
    Enum.sum(basket)
  end
end

defmodule Shop.Till do
  def open(till) do
    till.open
  end

  def shut(till) do
    till.shut
  end
end
""",
    "shop.jl": """\
using Dates

function add(basket, item)
    if item === nothing
        return basket
    end
    push!(basket, item)
end

struct Till
    drawer::Int
    name::String
end

function total(basket)
    result = 0
    for item in basket
        result += item
    end
    result
end

function refund(basket)
    map(basket) do item
        -item
    end
end

double(x) = 2x

function close(till)
    till.drawer = 0
end
""",
    "shop.lua": """\
local Shop = {}

function Shop.add(basket, item)
  if item == nil then
    return basket
  end
  table.insert(basket, item)
end

function Shop:total()
  local sum = 0
  for _, item in ipairs(self.items) do
    sum = sum + item
  end
  return sum
end

local function refund(basket)
  return -basket.total
end

return Shop
""",
    "Shop.cs": """\
using System;

namespace Shop
{
    public class Basket
    {
        private int count;

        public void Add(string item)
        {
            if (item == null)
            {
                return;
            }
            count += 1;
        }

        public int Total()
        {
            return count * 2;
        }
    }

    public class Till
    {
        public void Open()
        {
            Ring("open");
        }

        public void Shut()
        {
            Ring("shut");
        }
    }
}
""",
    "Shop.kt": """\
package shop

class Basket(val owner: String) {
    private val items = mutableListOf<String>()

    fun add(item: String?) {
        if (item == null) {
            return
        }
        items.add(item)
    }

    val size: Int
        get() = items.size

    fun total(): Int {
        return items.sumOf { it.length }
    }
}

fun refund(basket: Basket): Int {
    return -basket.total()
}

fun close(basket: Basket) {
    basket.clear()
}
""",
    "shop.c": """\
#include <stdio.h>

struct till {
    int open;
};

int add(int basket, int item)
{
    if (item < 0) {
        return basket;
    }
    return basket + item;
}

static int total(int basket) {
    for (int i = 0; i < 3; i++) {
        basket += i;
    }
    return basket;
}

int refund(int basket) {
    return -basket;
}
""",
    "shop.go": """\
package shop

type Basket struct {
	items []int
}

func (b *Basket) Add(item int) {
	if item == 0 {
		return
	}
	b.items = append(b.items, item)
}

func (b *Basket) Total() int {
	sum := 0
	for _, item := range b.items {
		sum += item
	}
	return sum
}

func Refund(b *Basket) int {
	return -b.Total()
}
""",
}
"""Programs as people indent them, in words of our own."""


class Damage(NamedTuple):
    """A damaged text, its damaged row, and the intact row of each of its rows."""

    kind: str
    row: int
    text: str
    intact: Callable[[int], int]


_END = re.compile(r"\s*(?:end\b.*|[})\]]+[;,)]*|fi|done|esac)\s*", re.IGNORECASE)
_BRACKETS = re.compile(r"[\s{}()\[\];,]*|\s*end\W*")
_HEAD = re.compile(r".*(?:\{|\bdo)\s*|\s*(?:def|function|subroutine|local function)\b.*")


def damages(text: str, language: str) -> Iterator[Damage]:
    """Yield a text with each damage in turn."""
    lines = text.split("\n")
    for row, line in enumerate(lines):
        before, behind = lines[:row], lines[row + 1 :]
        if _END.fullmatch(line):
            yield _damage("lost end", row, [*before, *behind], removed=1)
        for brace in re.finditer(r"[{}]", line):
            rest = line[: brace.start()] + line[brace.end() :]
            yield _damage(f"lost brace at {brace.start()}", row, [*before, rest, *behind])
        if not _HEAD.fullmatch(line) or line.count("(") != line.count(")"):
            continue
        yield _damage("doubled head", row, [*before, line, line, *behind], added=1)
        if line.rstrip().endswith("{") and language in ("c", "cpp", "objectivec", "csharp"):
            heads = ["#if A", line, "#else", line, "#endif"]
            yield _damage("split head", row, [*before, *heads, *behind], added=4)
            split = [line, "#if A", "if (a) {", "#else", "if (b) {", "#endif", "}"]
            yield _damage("split block", row, [*before, *split, *behind], added=6)


def _damage(kind: str, row: int, lines: list[str], *, added: int = 0, removed: int = 0) -> Damage:
    def intact(number: int) -> int:
        if removed:
            return number + (number >= row)
        return number if number < row else max(row, number - added)

    return Damage(kind, row, "\n".join(lines), intact)


def whole_rows(path: str, text: str) -> set[int]:
    """Return the rows that stand in the skeleton, without those of brackets alone."""
    view, source = viewed(path, text, ViewMode.SKELETON), text.split("\n")
    rows = set()
    for number, line in enumerate(view.text.split("\n"), start=1):
        at = view.source_line(number)
        if at and line == source[at - 1] and not _BRACKETS.fullmatch(line):
            rows.add(at - 1)
    return rows


def later_names(text: str, language: Language, row: int) -> set[tuple[int, str]]:
    """Return the rows and names of definitions behind the innermost one at ``row``."""
    definitions = read_module(text, language).definitions
    around = [one for one in definitions if one.first_line <= row + 1 <= one.last_line]
    last = max([row + 1, *(one.last_line for one in around[-1:])])
    return {
        (one.first_line - 1, one.path[-1])
        for one in definitions
        if one.first_line > last and one.path
    }


PROGRAMS = [
    *(pytest.param(path, text, 1, id=path) for path, text in CORPUS.items()),
    *(
        pytest.param(
            *sample(path.stem)[:1],
            sample(path.stem).text,
            3,
            id=path.stem,
            marks=pytest.mark.slow if path.stem in SLOW else (),
        )
        for path in sorted(SAMPLES.glob("*.txt"))
    ),
]


@pytest.mark.parametrize(("path", "text", "step"), PROGRAMS)
def test_no_damage_widens_a_cut(path: str, text: str, step: int) -> None:
    """Each row outside the bodies of the intact program stands in the skeleton of the damaged one (M-33, M-X19).

    In programs as people indent them, a lost end costs no name of a later definition.
    """
    language = language_of(path, text)
    assert language is not None
    if language.kind is not LanguageKind.CODE:
        return
    whole = whole_rows(path, text)
    for damage in [*damages(text, language.name)][::step]:
        with shared_parse():
            damaged = {damage.intact(row) for row in whole_rows(path, damage.text)}
            lost = whole - damaged - {damage.row}
            assert not lost, (damage.kind, damage.row + 1, sorted(lost))
            if path in CORPUS and damage.kind == "lost end":
                names = {
                    (damage.intact(one.first_line - 1), one.path[-1])
                    for one in read_module(damage.text, language).definitions
                    if one.path
                }
                missing = later_names(text, language, damage.row) - names
                assert not missing, (damage.row + 1, missing)
