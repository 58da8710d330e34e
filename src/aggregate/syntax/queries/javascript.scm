; inherits: ecma

(field_definition
  property: (_) @name
  value: [
    (function_expression body: (_) @members)
    (generator_function body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.method
