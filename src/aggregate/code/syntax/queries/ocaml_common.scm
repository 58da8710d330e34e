; Common to OCaml's implementations and interfaces. Each of several joint definitions is one, from its keyword.
(type_definition
  ["type" "and"] @definition.type
  .
  "nonrec"?
  .
  (type_binding
    name: [(type_constructor) (type_constructor_path)] @name
    "=" @members
    body: [(variant_declaration) (record_declaration)]) @definition.type)
(type_definition
  ["type" "and"] @definition.type
  .
  "nonrec"?
  .
  (type_binding
    name: [(type_constructor) (type_constructor_path)] @name) @definition.type)
(exception_definition
  (constructor_declaration . [(constructor_name) @name ("(" (constructor_name) @name)])) @definition.exception
(external [(value_name) (parenthesized_operator)] @name) @definition.function
(value_specification [(value_name) (parenthesized_operator)] @name) @definition.function

(module_definition
  ["module" "and"] @definition.module
  .
  "rec"?
  .
  (module_binding
    [(module_name) @name "_" @name]
    ["=" ":" ":="]? @members) @definition.module)
(module_type_definition
  (module_type_name) @name
  "="? @members) @definition.signature
(class_definition
  ["class" "and"] @definition.class
  .
  "virtual"?
  .
  (class_binding (class_name) @name ["=" ":"] @members) @definition.class)
(class_type_definition
  (class_type_binding (class_type_name) @name "=" @members)) @definition.class
(method_specification (method_name) @name) @definition.method

[
  (open_module module: (_) @import)
  (include_module module: (_) @import)
  (open_module_signature module: (_) @import)
]
(compilation_unit . (comment) @doc.leading)
