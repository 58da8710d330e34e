; inherits: typescript

; References: component elements.
(jsx_opening_element name: [
  (identifier) @reference.call
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.call)
])
(jsx_self_closing_element name: [
  (identifier) @reference.call
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.call)
])
