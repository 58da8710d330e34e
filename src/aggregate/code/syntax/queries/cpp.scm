; C++.
; inherits: c_common

[
  (template_declaration)
  (friend_declaration)
  (labeled_statement)
] @scope
; Functions, constructors, destructors and operators, including those that return pointers and references.
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

; = default, = delete, and try blocks as bodies.
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

; `class EXPORT Name { ... }` parses as a function without parameters, its members as statements.
(function_definition
  type: [(class_specifier) (struct_specifier) (union_specifier)]
  declarator: (identifier) @name
  body: (compound_statement) @members @scope) @definition.class

; A macro alone on its line before the first access specifier parses as the type of a function `public`.
((function_definition
  declarator: (field_identifier) @_access
  (ERROR (bitfield_clause (call_expression function: (identifier) @name)))
  body: (compound_statement) @body) @definition.function
  (#any-of? @_access "public" "protected" "private" "signals"))

; Old-style definitions with parameter types after the names: `int f(a) int a; { ... }`. At most eight lines of types:
; an unbounded search takes quadratic time for a run of declarations.
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

; If a type has no end, its beginning is a sibling of its members.
(ERROR "class" @definition.class . (type_identifier) @name @definition.class . (base_class_clause)? . "{")
(ERROR "struct" @definition.struct . (type_identifier) @name @definition.struct . (base_class_clause)? . "{")

; Declarations of functions unknown to C.
(declaration
  declarator: [
    (function_declarator declarator: [(qualified_identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(qualified_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name))
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
  type: (_ !body)
  declarator: (reference_declarator (type_identifier) @name)) @definition.typedef
(alias_declaration name: (type_identifier) @name) @definition.using
(template_declaration (alias_declaration name: (type_identifier) @name)) @definition.using
(namespace_alias_definition name: (_) @name) @definition.using
(concept_definition name: (_) @name) @definition.concept
(template_declaration (concept_definition name: (_) @name)) @definition.concept

; Lambdas outside functions are values of variables and fields.
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

; References.
(call_expression function: [
  (qualified_identifier scope: (_) @reference.scope name: (identifier) @reference.call)
  (qualified_identifier scope: (_) @reference.scope name: (template_function name: (_) @reference.call))
  (qualified_identifier
    scope: (_) @reference.scope
    name: (qualified_identifier name: [
      (identifier) @reference.call
      (template_function name: (_) @reference.call)
      (qualified_identifier name: [(identifier) @reference.call (template_function name: (_) @reference.call)])
    ]))
  (template_function name: (identifier) @reference.call)
  (field_expression
    argument: (_) @reference.scope
    field: (template_method name: (field_identifier) @reference.call))
])
(qualified_identifier scope: (_) @reference.scope name: [
  (identifier) @reference.attribute
  (type_identifier) @reference.type
  (template_type name: (type_identifier) @reference.type)
])
; The class of a function defined outside it.
(function_declarator
  declarator: (qualified_identifier scope: [
    (namespace_identifier) @reference.type
    (template_type name: (type_identifier) @reference.type)
  ]))
(class_specifier name: (type_identifier) @reference.defined body: (_))
(alias_declaration name: (_) @reference.defined)
(concept_definition name: (_) @reference.defined)
(type_parameter_declaration (type_identifier) @reference.defined)

(base_class_clause [
  (type_identifier) @reference.inherit
  (template_type name: (_) @reference.inherit)
  (qualified_identifier scope: (_) @reference.scope name: (type_identifier) @reference.inherit)
  (qualified_identifier scope: (_) @reference.scope name: (template_type name: (_) @reference.inherit))
])

(using_declaration) @reference.within
(using_declaration (identifier) @reference.import)
(using_declaration
  (qualified_identifier scope: (_) @reference.scope name: (identifier) @reference.import))
