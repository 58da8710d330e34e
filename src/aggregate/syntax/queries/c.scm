; C. Function bodies are not gone into; conditionals, linkage blocks and damaged regions are.
; inherits: c_common
[
  (ERROR)
  (preproc_if)
  (preproc_ifdef)
  (preproc_else)
  (preproc_elif)
  (preproc_elifdef)
  (declaration_list)
] @scope
; A function, also one that returns pointers or a pointer to a function.
(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))
    (_ (_ (function_declarator declarator: (identifier) @name)))
    (_ (_ (_ (function_declarator declarator: (identifier) @name))))
  ]
  body: (compound_statement) @body) @definition.function

(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
    (_ (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))))
  ]) @definition.prototype

(struct_specifier
  name: (type_identifier) @name
  body: (field_declaration_list) @members @scope) @definition.struct
(union_specifier
  name: (type_identifier) @name
  body: (field_declaration_list) @members @scope) @definition.union
(enum_specifier
  name: (type_identifier) @name
  body: (enumerator_list) @members) @definition.enum
(declaration
  type: (struct_specifier
    name: (type_identifier) @name
    body: (field_declaration_list) @members @scope) @definition.struct)
(field_declaration
  type: (struct_specifier
    name: (type_identifier) @name
    body: (field_declaration_list) @members @scope) @definition.struct)
(declaration
  type: (union_specifier
    name: (type_identifier) @name
    body: (field_declaration_list) @members @scope) @definition.union)
(field_declaration
  type: (union_specifier
    name: (type_identifier) @name
    body: (field_declaration_list) @members @scope) @definition.union)
(declaration
  type: (enum_specifier
    name: (type_identifier) @name
    body: (enumerator_list) @members) @definition.enum)
(field_declaration
  type: (enum_specifier
    name: (type_identifier) @name
    body: (enumerator_list) @members) @definition.enum)

(type_definition
  type: [
    (type_identifier)
    (primitive_type)
    (sized_type_specifier)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)
    (macro_type_specifier)
  ]
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

(preproc_def name: (identifier) @constant value: (_))
(enum_specifier !name body: (enumerator_list (enumerator name: (identifier) @constant)))
(declaration
  (type_qualifier) @_const
  declarator: (init_declarator
    declarator: [
      (identifier) @constant
      (_ (identifier) @constant)
    ])
  (#eq? @_const "const"))
