; OCaml: implementations.
; inherits: ocaml_common

; Bindings with parameters and anonymous functions are functions; other top-level bindings are constants.
(let_binding
  pattern: (_)
  .
  (parameter)
  body: (_) @body)
(let_binding body: [(fun_expression) (function_expression)] @body)
(method_definition body: (_) @body)

(value_definition
  "let" @definition.function
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    .
    (parameter)
    "=" @members) @definition.function)
(value_definition
  "let" @definition.function
  .
  "rec"
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    .
    (parameter)
    "=" @members) @definition.function)
(value_definition
  "and" @definition.function
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    .
    (parameter)
    "=" @members) @definition.function)
(value_definition
  "let" @definition.value
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    "=" @members) @definition.value)
(value_definition
  "let" @definition.value
  .
  "rec"
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    "=" @members) @definition.value)
(value_definition
  "let" @definition.value
  .
  [(attribute) (attribute_id)]
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    "=" @members) @definition.value)
(value_definition
  "and" @definition.value
  .
  (let_binding
    pattern: [(value_name) (parenthesized_operator)] @name
    "=" @members) @definition.value)
(method_definition (method_name) @name "=" @members) @definition.method
