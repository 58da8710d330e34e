"""HTML: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
<!DOCTYPE html>
<html lang="en">
<head>
  <title>Shapes</title>
  <link rel="stylesheet" href="style.css">
  <script src="app.js"></script>
  <style>h1 { color: red }</style>
</head>
<body>
  <!-- <h1>Not here</h1> -->
  <header class="top">
    <nav id="menu"><a href="/">Home</a></nav>
  </header>
  <main id="content" class="wide page">
    <h1>All <em>shapes</em></h1>
    <p>Text<br>more</p>
    <section class="round">
      <h2>Circles</h2>
      <p>Round.</p>
      <h3>Area</h3>
    </section>
    <div><div><h2>Squares</h2></div></div>
    <form id="search" method="get"><input name="q"></form>
  </main>
  <footer>
    <p>End</p>
  </footer>
  <script>const x = "<h1>no</h1>";</script>
</body>
</html>
"""

OUTLINE = """\
4-4    <title>Shapes</title>
7-7    <style>
7-7      h1
11-13  <header class="top">
12-12    <nav id="menu">
14-24  <main id="content" class="wide page">
15-24    <h1>All <em>shapes</em></h1>
17-21      <section class="round">
18-21        <h2>Circles</h2>
20-21          <h3>Area</h3>
22-24      <h2>Squares</h2>
23-23        <form id="search" method="get">
25-27  <footer>
28-28  <script>
"""

SUMMARY = """\
html, 30 lines
imports: style.css, app.js
constants: x
<title>Shapes</title>
<style>
  h1
<header class="top">
  <nav id="menu">
<main id="content" class="wide page">
  <h1>All <em>shapes</em></h1>
    <section class="round">
      <h2>Circles</h2>
        <h3>Area</h3>
    <h2>Squares</h2>
      <form id="search" method="get">
<footer>
<script>
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.html", SAMPLE) == OUTLINE
    assert summary_of("a.html", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.html", SAMPLE)


def test_a_page_on_one_line() -> None:
    """A page without line ends is listed as any other, names in any case (M-34)."""
    source = '<BODY><MAIN ID="a"><H1>One</H1><p>x<br></p><H2>Two</H2></MAIN></BODY>'
    assert (
        outline_of("a.html", source)
        == '1-1  <MAIN ID="a">\n1-1    <H1>One</H1>\n1-1      <H2>Two</H2>\n'
    )


def test_a_section_is_picked_by_its_id() -> None:
    """An element with an id is a symbol (M-35)."""
    assert (
        masked_of("a.html", SAMPLE, {"menu": "def"}) == '<nav id="menu"><a href="/">Home</a></nav>'
    )
