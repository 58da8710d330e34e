; Common to C and C++. Conditionals, linkage blocks and damaged regions are searched, function bodies are not.
[
  (ERROR)
  (preproc_if)
  (preproc_ifdef)
  (preproc_else)
  (preproc_elif)
  (preproc_elifdef)
  (declaration_list)
] @scope
(linkage_specification body: (_) @scope)

; A body with a function in it lost its end in unbalanced branches of a conditional: keep all of it.
(function_definition body: (compound_statement (function_definition)) @keep @scope)
(function_definition body: (compound_statement (MISSING "}")) @keep @scope)

([(preproc_if) (preproc_ifdef)] . (compound_statement) @body)

; A macro call in place of a signature.
((expression_statement
  (call_expression function: (identifier) @name)
  (MISSING ";")) @definition.function
  .
  (compound_statement) @body @definition.function)
(type_definition
  type: (struct_specifier
    name: (type_identifier)? @alias
    body: (field_declaration_list) @members @scope)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.struct
(type_definition
  type: (union_specifier
    name: (type_identifier)? @alias
    body: (field_declaration_list) @members @scope)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.union
(type_definition
  type: (enum_specifier
    name: (type_identifier)? @alias
    body: (enumerator_list) @members)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.enum

(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (pointer_declarator declarator: (_ declarator: (_ declarator: (function_declarator declarator: (identifier) @name))))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
    (_ (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))))
  ]) @definition.prototype

; Declarations misread as products, such as `T *f(int (*cb)(T *c));` in a block of `extern "C"`, or split by a macro
; before the type or name, such as `void CALLBACK g(T *t);`.
(expression_statement (binary_expression operator: ["*" "&"] right: [
  (call_expression function: (identifier) @name)
  (_ argument: (call_expression function: (identifier) @name))])) @definition.prototype
(expression_statement (pointer_expression argument: [
  (call_expression function: (identifier) @name)
  (_ argument: (call_expression function: (identifier) @name))])) @definition.prototype
((declaration (MISSING ";")) @definition.prototype . (expression_statement [
  (call_expression function: (identifier) @name)
  (_ argument: (call_expression function: (identifier) @name))
  (_ argument: (_ argument: (call_expression function: (identifier) @name)))]) @definition.prototype)

; Types alone, and types defined where a variable or member is declared.
(struct_specifier
  name: (_) @name
  body: (field_declaration_list) @members @scope) @definition.struct
(union_specifier
  name: (_) @name
  body: (field_declaration_list) @members @scope) @definition.union
(enum_specifier
  name: (_) @name
  body: (enumerator_list) @members) @definition.enum
(declaration
  type: [
    (struct_specifier name: (_) @name body: (field_declaration_list) @members @scope) @definition.struct
    (union_specifier name: (_) @name body: (field_declaration_list) @members @scope) @definition.union
    (enum_specifier name: (_) @name body: (enumerator_list) @members) @definition.enum
  ])
(field_declaration
  type: [
    (struct_specifier name: (_) @name body: (field_declaration_list) @members @scope) @definition.struct
    (union_specifier name: (_) @name body: (field_declaration_list) @members @scope) @definition.union
    (enum_specifier name: (_) @name body: (enumerator_list) @members) @definition.enum
  ])

; Aliases of types defined elsewhere.
(type_definition
  type: (_ !body)
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (_ declarator: (type_identifier) @name)
    (_ declarator: (_ declarator: (type_identifier) @name))
    (_ declarator: (_ declarator: (_ declarator: (type_identifier) @name)))
    (_ declarator: (parenthesized_declarator (type_identifier) @name))
    (_ declarator: (_ declarator: (parenthesized_declarator (type_identifier) @name)))
    (_ declarator: (_ declarator: (_ declarator: (parenthesized_declarator (type_identifier) @name))))
    (_ declarator: (parenthesized_declarator (_ declarator: (type_identifier) @name)))
    (_ declarator: (parenthesized_declarator (_ declarator: (_ declarator: (type_identifier) @name))))
    (_ declarator: (_ declarator: (parenthesized_declarator (_ declarator: (type_identifier) @name))))
    (_ declarator: (_ declarator: (_ declarator: (parenthesized_declarator (_ declarator: (type_identifier) @name)))))
  ]) @definition.typedef

(preproc_function_def
  name: (identifier) @name
  value: (preproc_arg)? @members) @definition.macro
(translation_unit . (comment) @doc.leading)
(preproc_include path: (_) @import)

; References.
(call_expression function: (identifier) @reference.call)
(call_expression
  function: (field_expression argument: (_) @reference.scope field: (field_identifier) @reference.call))
; Tables of functions.
(initializer_list (identifier) @reference.attribute)
(initializer_pair value: (identifier) @reference.attribute)

; Type names refer to types, except where they are defined.
(type_identifier) @reference.type
(struct_specifier name: (type_identifier) @reference.defined body: (_))
(union_specifier name: (type_identifier) @reference.defined body: (_))
(enum_specifier name: (type_identifier) @reference.defined body: (_))
(type_definition declarator: [
  (type_identifier) @reference.defined
  (_ declarator: (type_identifier) @reference.defined)
  (_ declarator: (parenthesized_declarator (_ declarator: (type_identifier) @reference.defined)))
])

(preproc_include path: [(string_literal (string_content) @reference.import) (system_lib_string) @reference.import])
