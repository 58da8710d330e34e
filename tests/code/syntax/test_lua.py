"""Lua: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
#!/usr/bin/env lua
-- Parcels and how they are weighed.
local scale = require("post.scale")

local M = {}

LIMIT = 30
local names = { "a -- b", "function x() end" }

--- Weighs a parcel.
function M.weigh(parcel, factor)
  -- In grams.
  local function round(n) return n end
  return round(parcel.weight * factor)
end

function M:add(...)
  self.parcels[#self.parcels + 1] = ...
end

local function is_heavy(parcel)
  return parcel.weight > LIMIT
end

local total = function(parcels)
  return #parcels * scale.unit
end

M.later = async(function(parcel)
  return M.weigh(parcel, 1)
end)

M.handlers = {
  small = function(parcel)
    return "small " .. parcel.name
  end,
  ["very-large"] = function() return 9 end,
}

describe("parcels", function()
  it("have a weight", function()
    assert.equal(1, M.weigh(parcel, 1))
  end)
end)

return M
"""

SKELETON = """\
#!/usr/bin/env lua
-- Parcels and how they are weighed.
local scale = require("post.scale")

local M = {}

LIMIT = 30
local names = { "a -- b", "function x() end" }

--- Weighs a parcel.
function M.weigh(parcel, factor)
  --[[ ... ]]
end

function M:add(...)
  --[[ ... ]]
end

local function is_heavy(parcel)
  --[[ ... ]]
end

local total = function(parcels)
  --[[ ... ]]
end

M.later = async(function(parcel)
  --[[ ... ]]
end)

M.handlers = {
  small = function(parcel)
    --[[ ... ]]
  end,
  ["very-large"] = function() return 9 end,
}

describe("parcels", function()
  it("have a weight", function()
    --[[ ... ]]
  end)
end)

return M
"""

OUTLINE = """\
11-15  function M.weigh(parcel, factor)
17-19  function M:add(...)
21-23  local function is_heavy(parcel)
25-27  local total = function(parcels)
29-31  M.later = async(function(parcel)
34-36  small = function(parcel)
37-37  ["very-large"] = function()
40-44  describe("parcels", function()
41-43    it("have a weight", function()
"""

SUMMARY = """\
lua, 46 lines, 6 functions, 1 method, 1 suite, 1 test
Parcels and how they are weighed.
imports: post.scale
constants: LIMIT
suite parcels: have a weight
functions: M.weigh, is_heavy, total, M.later, small, very-large
methods: M.add
"""


def test_skeleton() -> None:
    """Bodies of named and unnamed functions are cut, with the comment that begins them; groups of tests stay open (M-33)."""
    assert skeleton_of("a.lua", SAMPLE) == SKELETON
    check_skeleton("a.lua", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.lua", SAMPLE) == OUTLINE
    assert summary_of("a.lua", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"M.weigh": "sig"}, "function M.weigh(parcel, factor)\n  -- In grams."),
        (
            {"is_heavy": "def"},
            "local function is_heavy(parcel)\n  return parcel.weight > LIMIT\nend",
        ),
        (
            {"total": "sig", "M.add": "def"},
            "local total = function(parcels)\n\nfunction M:add(...)\n  self.parcels[#self.parcels + 1] = ...\nend",
        ),
        ({"round": "def"}, "ERROR: symbol not found: round in a.lua"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A function is found by the name that it has or is assigned to; a local one inside of it is none (M-35, M-X15)."""
    assert masked_of("a.lua", SAMPLE, mask) == expected
