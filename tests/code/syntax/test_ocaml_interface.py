"""Interfaces of OCaml: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, sample, skeleton_of

SAMPLE = sample("ocaml_interface").text


def test_skeleton() -> None:
    """An interface has no bodies: it stays as it is (M-33)."""
    assert skeleton_of("a.mli", SAMPLE) == SAMPLE
    check_skeleton("a.mli", SAMPLE)
