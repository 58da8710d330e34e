; inherits: html
; Svelte's components: the markup's elements two levels deep, and the parts to cut below.
(document
  (element . (start_tag (tag_name) @_name) @header) @definition.element
  (#not-match? @_name "^(?i:title|h[1-6])$"))
(document (element . (self_closing_tag)) @definition.element)
(document
  (element (element . (start_tag (tag_name) @_name) @header) @definition.element)
  (#not-match? @_name "^(?i:title|h[1-6])$"))
(document (element (element . (self_closing_tag)) @definition.element))
(document (element (element (start_tag) (end_tag)) @hollow))
(style_element (raw_text) @body)
