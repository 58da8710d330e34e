"""Svelte: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, summary_of

SAMPLE = """\
<script context="module" lang="ts">
  export const a = "<h1>no</h1>";
</script>

<script>
  export let name;
</script>

<svelte:head><title>Shapes</title></svelte:head>

<main id="content" class="wide">
  <h1>Hello {name}!</h1>
  {#if name}
    <section>
      <h2>Circles</h2>
      <Circle bind:name on:click={() => draw("</section>")} />
    </section>
  {:else}
    <p>None</p>
  {/if}
  {#snippet row(item)}
    <td>{item}</td>
  {/snippet}
</main>

<style lang="scss">
  h1 { color: red }
</style>
"""

OUTLINE = """\
1-3    <script context="module" lang="ts">
5-7    <script>
9-9    <svelte:head>
11-24  <main id="content" class="wide">
12-24    <h1>Hello {name}!</h1>
14-17      <section>
15-17        <h2>Circles</h2>
21-23      {#snippet row(item)}
26-28  <style lang="scss">
"""

SUMMARY = """\
svelte, 28 lines
<script context="module" lang="ts">
<script>
<svelte:head>
<main id="content" class="wide">
  <h1>Hello {name}!</h1>
    <section>
      <h2>Circles</h2>
    {#snippet row(item)}
<style lang="scss">
"""


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.svelte", SAMPLE) == OUTLINE
    assert summary_of("a.svelte", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.svelte", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"content": "sig"}, '<main id="content" class="wide">'),
        ({"row": "def"}, "{#snippet row(item)}\n    <td>{item}</td>\n  {/snippet}"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.svelte", SAMPLE, mask) == text
