; inherits: ecma

(field_definition
  property: (_) @name
  value: [
    (function_expression body: (_) @members)
    (generator_function body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.method

; Fields of a class made by calls from functions, such as ``debounce(f)`` or ``$derived.by(f)``.
(field_definition
  property: (_) @name
  value: (call_expression arguments: (arguments [
    (function_expression body: (_) @members)
    (arrow_function body: (_) @members)
  ]))) @definition.method

; References.
(class_heritage [
  (identifier) @reference.inherit
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.inherit)
  (call_expression function: (identifier) @reference.inherit)
])
(jsx_opening_element name: [
  (identifier) @reference.call
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.call)
])
(jsx_self_closing_element name: [
  (identifier) @reference.call
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.call)
])
