; Svelte: scripts, styles, snippets, headings, and the elements that structure a page.
(document (script_element (start_tag) (raw_text) @members) @definition.element)
(document (style_element (start_tag) (raw_text) @members) @definition.element)
(snippet_statement (snippet_start (snippet_name) @name) . (_) @members) @definition.element

(element
  (start_tag (tag_name) @_tag)
  .
  (_) @members
  (#match? @_tag "^(main|section|article|nav|header|footer|aside|form|dialog|template|svelte:.*)$")) @definition.element
(element
  (start_tag
    (tag_name) @_tag
    (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))
  .
  (_) @members
  (#match? @_tag "^(main|section|article|nav|header|footer|aside|form|dialog|template)$")
  (#eq? @_id "id")) @definition.element

(element (start_tag (tag_name) @_tag @level.1) . (_) @title (#eq? @_tag "h1")) @definition.heading
(element (start_tag (tag_name) @_tag @level.2) . (_) @title (#eq? @_tag "h2")) @definition.heading
(element (start_tag (tag_name) @_tag @level.3) . (_) @title (#eq? @_tag "h3")) @definition.heading
(element (start_tag (tag_name) @_tag @level.4) . (_) @title (#eq? @_tag "h4")) @definition.heading
(element (start_tag (tag_name) @_tag @level.5) . (_) @title (#eq? @_tag "h5")) @definition.heading
(element (start_tag (tag_name) @_tag @level.6) . (_) @title (#eq? @_tag "h6")) @definition.heading
