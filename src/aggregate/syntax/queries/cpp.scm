; C++. Function bodies are not gone into; what can hold members or declarations is.
; inherits: c_common
[
  (ERROR)
  (preproc_if)
  (preproc_ifdef)
  (preproc_else)
  (preproc_elif)
  (preproc_elifdef)
  (declaration_list)
  (template_declaration)
  (friend_declaration)
  (labeled_statement)
] @scope
; Functions, constructors, destructors and operators, also those that return pointers and references.
(function_definition
  declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name) (template_function) (template_method)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function) (template_method)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function) (template_method)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name)))
    (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier)] @name)))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier)] @name))))
    (operator_cast) @name
    (qualified_identifier) @name
  ]
  body: (compound_statement) @body) @definition.function
(template_declaration
  (function_definition
    declarator: [
      (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name) (template_function) (template_method)] @name)
      (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function) (template_method)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (template_function) (template_method)] @name))
      (operator_cast) @name
      (qualified_identifier) @name
    ]
    body: (compound_statement) @body)) @definition.function

; = default, = delete, and bodies that are a try block.
(function_definition
  declarator: [
    (function_declarator declarator: (_) @name)
    (_ (function_declarator declarator: (_) @name))
  ]
  [(default_method_clause) (delete_method_clause)]) @definition.function
(declaration
  declarator: (init_declarator
    declarator: [
      (function_declarator declarator: (_) @name)
      (_ (function_declarator declarator: (_) @name))
    ]
    value: (delete_expression (MISSING identifier)))) @definition.function
(template_declaration
  (declaration
    declarator: (init_declarator
      declarator: [
        (function_declarator declarator: (_) @name)
        (_ (function_declarator declarator: (_) @name))
      ]
      value: (delete_expression (MISSING identifier))))) @definition.function
(function_definition
  declarator: (function_declarator declarator: (_) @name)
  (try_statement body: (compound_statement) @body)) @definition.function
(template_declaration
  (function_definition
    declarator: (function_declarator declarator: (_) @name)
    (try_statement body: (compound_statement) @body))) @definition.function
(function_definition (try_statement (catch_clause body: (compound_statement) @body)))

; `class EXPORT Name { ... }` reads as a function without parameters, and its members as statements.
(function_definition
  type: [(class_specifier) (struct_specifier) (union_specifier)]
  declarator: (identifier) @name
  body: (compound_statement) @members @scope) @definition.class

; A macro alone on its line before the first access specifier reads as the type of a function named `public`.
((function_definition
  declarator: (field_identifier) @_access
  (ERROR (bitfield_clause (call_expression function: (identifier) @name)))
  body: (compound_statement) @body) @definition.function
  (#any-of? @_access "public" "protected" "private" "signals"))

; Definitions as of old, with the types of the parameters behind their names: `int f(a) int a; { ... }`. No more than
; eight lines of these: a search without a bound takes the square of a run of declarations.
((declaration
  declarator: [
    (init_declarator declarator: (identifier) @name value: (argument_list))
    (init_declarator declarator: (_ (identifier) @name) value: (argument_list))
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  ]
  (MISSING ";")) @definition.function
  . (declaration)? . (declaration)? . (declaration)? . (declaration)?
  . (declaration)? . (declaration)? . (declaration)? . (declaration)?
  .
  (compound_statement) @body @definition.function)

; Where the end of a type is not found, its beginning stands among what it holds.
(ERROR "class" @definition.class . (type_identifier) @name @definition.class . (base_class_clause)? . "{")
(ERROR "struct" @definition.struct . (type_identifier) @name @definition.struct . (base_class_clause)? . "{")

; Declarations of functions.
(declaration
  declarator: [
    (function_declarator declarator: [(identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))))
    (_ (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))))
    (operator_cast) @name
  ]) @definition.prototype
(template_declaration
  (declaration
    declarator: [
      (function_declarator declarator: [(identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)
      (pointer_declarator declarator: (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
      (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
      (operator_cast) @name
    ])) @definition.prototype
(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name)))
    (operator_cast) @name
  ]) @definition.method

; Types and namespaces.
(namespace_definition
  name: (_) @name
  body: (declaration_list) @members @scope) @definition.namespace
(namespace_definition
  !name
  body: (declaration_list) @members @scope) @definition.namespace
(class_specifier
  name: (_) @name
  body: (field_declaration_list) @members @scope) @definition.class
(struct_specifier
  name: (_) @name
  body: (field_declaration_list) @members @scope) @definition.struct
(union_specifier
  name: (_) @name
  body: (field_declaration_list) @members @scope) @definition.union
(enum_specifier
  name: (_) @name
  body: (enumerator_list) @members) @definition.enum
(template_declaration
  (class_specifier
    name: (_) @name
    body: (field_declaration_list) @members)) @definition.class
(template_declaration
  (struct_specifier
    name: (_) @name
    body: (field_declaration_list) @members)) @definition.struct
(template_declaration
  (union_specifier
    name: (_) @name
    body: (field_declaration_list) @members)) @definition.union
(declaration
  type: (class_specifier
    name: (_) @name
    body: (field_declaration_list) @members @scope) @definition.class)
(field_declaration
  type: (class_specifier
    name: (_) @name
    body: (field_declaration_list) @members @scope) @definition.class)
(declaration
  type: (struct_specifier
    name: (_) @name
    body: (field_declaration_list) @members @scope) @definition.struct)
(field_declaration
  type: (struct_specifier
    name: (_) @name
    body: (field_declaration_list) @members @scope) @definition.struct)
(declaration
  type: (union_specifier
    name: (_) @name
    body: (field_declaration_list) @members @scope) @definition.union)
(field_declaration
  type: (union_specifier
    name: (_) @name
    body: (field_declaration_list) @members @scope) @definition.union)
(declaration
  type: (enum_specifier
    name: (_) @name
    body: (enumerator_list) @members) @definition.enum)
(field_declaration
  type: (enum_specifier
    name: (_) @name
    body: (enumerator_list) @members) @definition.enum)
(declaration
  type: [
    (class_specifier !name body: (field_declaration_list) @scope)
    (struct_specifier !name body: (field_declaration_list) @scope)
    (union_specifier !name body: (field_declaration_list) @scope)
  ])
(field_declaration
  type: [
    (class_specifier !name body: (field_declaration_list) @scope)
    (struct_specifier !name body: (field_declaration_list) @scope)
    (union_specifier !name body: (field_declaration_list) @scope)
  ])

(type_definition
  type: [
    (type_identifier)
    (primitive_type)
    (sized_type_specifier)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)
    (class_specifier !body)
    (qualified_identifier)
    (template_type)
    (decltype)
    (dependent_type)
  ]
  declarator: [
    (type_identifier) @name
    (primitive_type) @name
    (_ declarator: (type_identifier) @name)
    (reference_declarator (type_identifier) @name)
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
(alias_declaration name: (type_identifier) @name) @definition.using
(template_declaration (alias_declaration name: (type_identifier) @name)) @definition.using
(namespace_alias_definition name: (_) @name) @definition.using
(concept_definition name: (_) @name) @definition.concept
(template_declaration (concept_definition name: (_) @name)) @definition.concept

; Lambdas stand outside functions in what variables and fields are set to.
(declaration declarator: (init_declarator value: (_) @scope.deep))
(field_declaration default_value: (_) @scope.deep)
(lambda_expression body: (compound_statement) @body)

(using_declaration (_) @import)
(preproc_def name: (identifier) @constant.member value: (_))
(enum_specifier !name body: (enumerator_list (enumerator name: (identifier) @constant.member)))
(declaration
  (type_qualifier) @_const
  declarator: (init_declarator
    declarator: [
      (identifier) @constant.member
      (_ (identifier) @constant.member)
    ])
  (#any-of? @_const "const" "constexpr" "constinit"))
