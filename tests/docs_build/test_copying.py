"""What a reader copies from an example of the site."""

from docs_build.copying import copy_commands_only

SHOWN = (
    '<div class="language-console highlight"><pre><span></span><code>'
    '<span class="gp">$ </span>aggregate<span class="w"> </span><span class="s2">&quot;a&quot;</span>\n'
    '<span class="go">## Files</span>\n'
    '<span class="gp">$ </span>cat &lt; a.md\n'
    "</code></pre></div>"
)
OTHER = '<div class="language-sh highlight"><pre><code>$ a\n</code></pre></div>'


def test_examples_are_copied_as_their_commands() -> None:
    """Neither a prompt nor output is copied; what is shown, and blocks of other kinds, stay as they are."""
    copied = copy_commands_only(SHOWN + OTHER)
    attribute = ' data-copy="aggregate &quot;a&quot;&#10;cat &lt; a.md"'
    assert attribute in copied
    assert copied.replace(attribute, "") == SHOWN + OTHER
