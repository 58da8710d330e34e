"""Programs and styles in markup: HTML, Vue's and Svelte's components."""

import re

import pytest

from aggregate import ViewMode
from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of, viewed

VUE_MARKED = """\
<script setup lang="ts">
import { ref } from 'vue'

const count = ref<number>(0)

/** Adds. */
function add(by: number): void ⟦{
  count.value += by
}⟧
</script>

<template>
  <main class="page">
    <button v-if="count < 3" @click="add(1)">⟦
      {{ count < 2 ? "a" : "b" }}
    ⟧</button>
    <Footer />
  </main>
</template>

<style scoped lang="scss">⟦
.page { .inner { color: red } }⟧
</style>
<style>⟦
.page { color: red }⟧
</style>
"""

VUE_OUTLINE = """\
1-10   <script setup lang="ts">
7-9      function add(by: number): void
12-19  <template>
13-18    <main class="page">
14-16      <button v-if="count < 3" @click="add(1)">
17-17      <Footer />
21-23  <style scoped lang="scss">
24-26  <style>
25-25    .page
"""

VUE_SUMMARY = """\
vue, 26 lines
imports: vue
functions: add
<script setup lang="ts">
<template>
  <main class="page">
    <button v-if="count < 3" @click="add(1)">
    <Footer />
<style scoped lang="scss">
<style>
  .page"""

SVELTE_MARKED = """\
<script lang="ts">
  import Nav from './Nav.svelte'

  export let items: string[] = []

  function pick(item: string) ⟦{
    items = items.filter((other) => other !== item)
  }⟧
</script>

<svelte:head><title>⟦Items⟧</title></svelte:head>
<Nav on:pick={(event) => { pick(event.detail) }} />
{#if items.length > 3}
  <ul class="items">
    {#each items as item}
      <li>⟦{item}⟧</li>
    {/each}
  </ul>
{/if}

<style>⟦
  li { color: red }⟧
</style>
"""

SVELTE_OUTLINE = """\
1-9    <script lang="ts">
6-8      function pick(item: string)
11-11  <svelte:head>
11-11    <title>Items</title>
12-12  <Nav on:pick={(event) => { pick(event.detail) }} />
14-18  <ul class="items">
16-16    <li>
21-23  <style>
22-22    li
"""


def whole(marked: str) -> str:
    """Return a component with what its skeleton leaves out."""
    return marked.replace("⟦", "").replace("⟧", "")


def cut(marked: str) -> str:
    """Return the skeleton of a component."""
    return re.sub("⟦[^⟧]*⟧", "...", re.sub("⟦{\n[^⟧]*⟧", "{ /* ... */ }", marked))


def test_a_component_of_vue() -> None:
    """Its script is TypeScript, its template shown two levels deep, its styles rules (M-32, M-33, M-34)."""
    assert outline_of("a.vue", VUE) == VUE_OUTLINE
    assert skeleton_of("a.vue", VUE) == cut(VUE_MARKED)
    assert summary_of("a.vue", VUE) == VUE_SUMMARY


def test_a_component_of_svelte() -> None:
    """Expressions in braces are no markup; the rest is as in any component (M-33, M-34)."""
    assert outline_of("a.svelte", SVELTE) == SVELTE_OUTLINE
    assert skeleton_of("a.svelte", SVELTE) == cut(SVELTE_MARKED)


VUE, SVELTE = whole(VUE_MARKED), whole(SVELTE_MARKED)


@pytest.mark.parametrize(("path", "text"), [("a.vue", VUE), ("a.svelte", SVELTE)])
def test_skeleton_invariants(path: str, text: str) -> None:
    """The skeleton is no longer than the file and its own skeleton (M-33)."""
    check_skeleton(path, text)
    assert skeleton_of(path, skeleton_of(path, text)) == skeleton_of(path, text)


def test_symbols_of_scripts_and_styles_are_picked() -> None:
    """What a script or a style defines is a symbol of the file (M-35)."""
    whole = "function add(by: number): void {\n  count.value += by\n}"
    assert masked_of("a.vue", VUE, {"add": "def"}) == whole
    assert masked_of("a.svelte", SVELTE, {"pick": "sig"}) == "function pick(item: string)"


@pytest.mark.parametrize(
    ("tag", "code", "rows"),
    [
        ("script", "function f() {}", ["function f()"]),
        ('script type="module"', "class A {}", ["class A"]),
        ("script type=module lang=ts", "interface A {}", ["interface A"]),
        ('script lang="tsx"', "type T = <A/>; class B {}", ["class B"]),
        ('script type="application/ld+json"', '{"a": [1, 2]}', ["a: array (2 items)"]),
        ('script type="text/x-template"', "function f() {}", []),
        ('script data-type="text/x"', "function f() {}", ["function f()"]),
        ("style", "a { b: c }", ["a"]),
        ("style lang='less'", "a { b: c }", []),
        ("script", "function f( {", []),
    ],
)
def test_an_attribute_names_the_language(tag: str, code: str, rows: list[str]) -> None:
    """Scripts and styles are read in the language of their tag; others have a row of their own only (M-34)."""
    text = f"<p>x</p>\n<{tag}>\n{code}\n</{tag.split()[0]}>\n"
    outline = outline_of("a.html", text).splitlines()
    assert [row.split(maxsplit=1)[1] for row in outline] == [f"<{tag}>", *rows]
    assert all(row.startswith("3-3") for row in outline[1:])


@pytest.mark.parametrize("path", ["a.html", "a.vue", "a.svelte"])
@pytest.mark.parametrize("mode", [ViewMode.OUTLINE, ViewMode.SKELETON])
@pytest.mark.parametrize(
    "text",
    [
        "<script>function f() { return 1 }</script>\n" * 1_500,
        "<script>" * 1_500,
        "<script>" + "function f() {\n" * 1_500,
        "<script " + "lang=ts " * 1_500 + ">function f() {}</script>",
        "<script>" + "{" * 50_000 + "</script>",
        "{" * 50_000,
        "<style>" + "a{" * 15_000,
        "<template>" + "<div>" * 2_000,
    ],
)
def test_hostile_components_are_shown(path: str, mode: ViewMode, text: str) -> None:
    """Thousands of scripts, unclosed and nested ones end in a view (M-5)."""
    assert viewed(path, text, mode).text
