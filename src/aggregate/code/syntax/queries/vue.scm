; inherits: html
; Vue's single-file components: the template's elements two levels deep, and the parts to cut below.
(document
  (element
    (start_tag (tag_name) @_tag)
    (element . (start_tag (tag_name) @_name) @header) @definition.element)
  (#eq? @_tag "template")
  (#not-match? @_name "^(?i:title|h[1-6])$"))
(document
  (element
    (start_tag (tag_name) @_tag)
    (element . (self_closing_tag)) @definition.element)
  (#eq? @_tag "template"))
(document
  (element
    (start_tag (tag_name) @_tag)
    (element (element . (start_tag (tag_name) @_name) @header) @definition.element))
  (#eq? @_tag "template")
  (#not-match? @_name "^(?i:title|h[1-6])$"))
(document
  (element
    (start_tag (tag_name) @_tag)
    (element (element . (self_closing_tag)) @definition.element))
  (#eq? @_tag "template"))
(document
  (element
    (start_tag (tag_name) @_tag)
    (element (element (start_tag) (end_tag)) @hollow))
  (#eq? @_tag "template"))
(style_element (raw_text) @body)
