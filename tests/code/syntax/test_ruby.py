"""Ruby: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
#!/usr/bin/env ruby
# frozen_string_literal: true
# Shapes and their areas.

require "set"
require_relative "base"
autoload :Color, "shapes/color"

LIMIT = 10
TEMPLATE = <<~TEXT
  # def not_a_method
  class Nothing
TEXT

module Shapes
  PATTERN = /def #{LIMIT} end/

  class Error < StandardError; end

  class Circle < Base
    include Comparable
    attr_reader :radius, :name
    attr_accessor :color

    class << self
      attr_writer :unit

      def unit
        @unit ||= Circle.new(1)
      end
    end

    def self.from(text, strict: false)
      new(Float(text))
    end

    # Makes a circle.
    def initialize(radius,
                   name: "a # b")
      # What was given.
      @radius = radius
      @name = name
    end

    def area = 3.14 * radius**2

    def empty; end

    def save
      write(<<~SQL)
        INSERT # no comment
      SQL
    rescue IOError => e
      warn e.message
    else
      true
    ensure
      close
    end

    def <=>(other)
      radius <=> other.radius
    end

    def scale!(factor) # in place
      @radius *= factor
      # done
    end

    private def secret
      "end"
    end

    validates :radius, presence: true
    scope :big, -> { where("radius > 1") }

    before_save do
      normalize
    end

    included do
      def helper
        unit.to_s + "x"
      end
    end
  end
end

Point = Struct.new(:x, :y) do
  def distance
    Math.hypot(x, y)
  end
end

class Shapes::Square
end

namespace :shapes do
  desc "Draws"
  task :draw, [:name] => :environment do |_, args|
    Shapes.draw(args[:name])
  end
end

RSpec.describe Shapes::Circle do
  let(:circle) { described_class.new(1) }

  context "when small" do
    it "has an area" do
      expect(circle.area).to be > 3
    end
  end
end
"""

SKELETON = """\
#!/usr/bin/env ruby
# frozen_string_literal: true
# Shapes and their areas.

require "set"
require_relative "base"
autoload :Color, "shapes/color"

LIMIT = 10
TEMPLATE = <<~TEXT
  # def not_a_method
  class Nothing
TEXT

module Shapes
  PATTERN = /def #{LIMIT} end/

  class Error < StandardError; end

  class Circle < Base
    include Comparable
    attr_reader :radius, :name
    attr_accessor :color

    class << self
      attr_writer :unit

      def unit
        # ...
      end
    end

    def self.from(text, strict: false)
      # ...
    end

    # Makes a circle.
    def initialize(radius,
                   name: "a # b")
      # ...
    end

    def area = 3.14 * radius**2

    def empty; end

    def save
      # ...
    end

    def <=>(other)
      # ...
    end

    def scale!(factor) # in place
      # ...
    end

    private def secret
      # ...
    end

    validates :radius, presence: true
    scope :big, -> { where("radius > 1") }

    before_save do
      # ...
    end

    included do
      def helper
        # ...
      end
    end
  end
end

Point = Struct.new(:x, :y) do
  def distance
    # ...
  end
end

class Shapes::Square
end

namespace :shapes do
  desc "Draws"
  task :draw, [:name] => :environment do |_, args|
    # ...
  end
end

RSpec.describe Shapes::Circle do
  let(:circle) { described_class.new(1) }

  context "when small" do
    it "has an area" do
      # ...
    end
  end
end
"""

OUTLINE = """\
15-87    module Shapes
18-18      class Error < StandardError
20-86      class Circle < Base
25-31        class << self
28-30          def unit
33-35        def self.from(text, strict: false)
38-43        def initialize(radius, name: "a # b")
45-45        def area =
47-47        def empty
49-59        def save
61-63        def <=>(other)
65-68        def scale!(factor)
70-72        private def secret
82-84        def helper
89-93    Point = Struct.new(:x, :y)
90-92      def distance
95-96    class Shapes::Square
98-103   namespace :shapes
100-102    task :draw, [:name] => :environment do |_, args|
105-113  RSpec.describe Shapes::Circle
108-112    context "when small"
109-111      it "has an area"
"""

SUMMARY = """\
ruby, 113 lines, 1 module, 5 classes, 11 methods, 1 namespace, 1 task, 2 suites, 1 test
Shapes and their areas.
imports: set, base, shapes/color
constants: LIMIT, TEMPLATE
module Shapes
  class Error < StandardError
  class Circle < Base: from, initialize, area, empty, save, <=>, scale!, secret, helper
    class << self: unit
Point = Struct.new(:x, :y): distance
class Shapes::Square
namespace :shapes: :draw
suite Shapes::Circle
  suite when small: has an area
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.rb", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.rb", SAMPLE) == OUTLINE
    assert summary_of("a.rb", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.rb", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (
            {"Circle.from": "def"},
            "def self.from(text, strict: false)\n      new(Float(text))\n    end",
        ),
        (
            {"Shapes::Circle::initialize": "sig"},
            'def initialize(radius,\n                   name: "a # b")',
        ),
        ({"scale!": "sig", "<=>": "sig"}, "def scale!(factor)\n\ndef <=>(other)"),
        ({"unit": "def"}, "def unit\n        @unit ||= Circle.new(1)\n      end"),
        ({"secret": "def"}, 'private def secret\n      "end"\n    end'),
        ({"Point.distance": "def"}, "def distance\n    Math.hypot(x, y)\n  end"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are found by name or path, whichever way they are defined (M-35, M-X15)."""
    assert masked_of("a.rb", SAMPLE, mask) == text


def test_a_placeholder_never_swallows_what_follows_it() -> None:
    """The placeholder is a comment, so a body with anything behind it on its last line stays (M-33)."""
    source = (
        "def a; first_thing; second_thing; end\ndef b() third_thing end\nlist.each { |x| puts x }\n"
    )
    assert skeleton_of("a.rb", source) == source


def test_heredocs_and_comments_that_look_like_code() -> None:
    """Heredocs outside of methods stay, those inside go with the body (M-33)."""
    source = "A = <<~X\n  def no\n  # no\n  end\nX\ndef yes\n  puts(<<~X, 1)\n    end\n  X\n  # last\nend\n"
    assert (
        skeleton_of("a.rb", source)
        == "A = <<~X\n  def no\n  # no\n  end\nX\ndef yes\n  # ...\nend\n"
    )
    check_skeleton("a.rb", source)


def test_a_syntax_error_costs_only_its_region() -> None:
    """What stands before a syntax error is still cut (M-X19)."""
    source = "def one\n  first_thing(1)\nend\n\nx = = 1\n\ndef two\n  second_thing(2)\nend\n"
    assert (
        skeleton_of("a.rb", source) == "def one\n  # ...\nend\n\nx = = 1\n\ndef two\n  # ...\nend\n"
    )


def test_routes_and_tasks_at_the_top_stay_open() -> None:
    """A block at the top of the file stays open one level (M-33)."""
    source = """\
get '/' do
  erb :index
end

Rails.application.routes.draw do
  resources :a do
    get :long_name
  end
end
"""
    assert skeleton_of("config.ru", source) == source.replace("get :long_name", "# ...")


def test_a_gemfile_lists_its_gems() -> None:
    """A file is known by its whole name, and what it requires is in the digest (M-32)."""
    source = 'source "https://example.org"\n\ngem "rake", "~> 13.0"\ngroup :test do\n  gem "minitest"\nend\n'
    assert summary_of("Gemfile", source) == "ruby, 6 lines\nimports: rake, minitest"
