; HTML: headings, and the elements that structure a page.
(element
  (start_tag (tag_name) @_tag)
  .
  (_) @members
  (#match? @_tag "^(?i:main|section|article|nav|header|footer|aside|form|dialog|template)$")) @definition.element
(element
  (start_tag
    (tag_name) @_tag
    (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))
  .
  (_) @members
  (#match? @_tag "^(?i:main|section|article|nav|header|footer|aside|form|dialog|template)$")
  (#eq? @_id "id")) @definition.element

(element
  (start_tag (tag_name) @_tag)
  .
  (text) @title
  (#match? @_tag "^(?i:title)$")) @definition.heading

(element (start_tag (tag_name) @_tag @level.1) . (_) @title (#any-of? @_tag "h1" "H1")) @definition.heading
(element (start_tag (tag_name) @_tag @level.2) . (_) @title (#any-of? @_tag "h2" "H2")) @definition.heading
(element (start_tag (tag_name) @_tag @level.3) . (_) @title (#any-of? @_tag "h3" "H3")) @definition.heading
(element (start_tag (tag_name) @_tag @level.4) . (_) @title (#any-of? @_tag "h4" "H4")) @definition.heading
(element (start_tag (tag_name) @_tag @level.5) . (_) @title (#any-of? @_tag "h5" "H5")) @definition.heading
(element (start_tag (tag_name) @_tag @level.6) . (_) @title (#any-of? @_tag "h6" "H6")) @definition.heading

(script_element
  (start_tag (attribute (attribute_name) @_src (quoted_attribute_value (attribute_value) @import)))
  (#eq? @_src "src"))
(element
  (start_tag
    (tag_name) @_tag
    (attribute (attribute_name) @_href (quoted_attribute_value (attribute_value) @import)))
  (#eq? @_tag "link")
  (#eq? @_href "href"))

; Scripts and styles are parsed in their own language, which the tag's attributes may name.
(script_element
  (start_tag) @embedded.tag
  (raw_text) @members @embedded.javascript
  (#match? @members "\\S")) @definition.element
(style_element
  (start_tag) @embedded.tag
  (raw_text) @members @embedded.css
  (#match? @members "\\S")) @definition.element
