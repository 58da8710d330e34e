"""Ruby: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, skeleton_of, summary_of


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
