; inherits: ecma

; Decorated methods: the decorators are siblings.
(class_body
  (decorator)+ @definition.method
  .
  (method_definition
    name: [
      (property_identifier) @name
      (private_property_identifier) @name
      (number) @name
      (string (string_fragment) @title)
      (computed_property_name) @title
    ]
    body: (_) @members) @definition.method)

(public_field_definition
  name: (_) @name
  value: [
    (function_expression body: (_) @members)
    (generator_function body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.method

; Fields of a class made by calls from functions, such as ``debounce(f)`` or ``$derived.by(f)``.
(public_field_definition
  name: (_) @name
  value: (call_expression arguments: (arguments [
    (function_expression body: (_) @members)
    (arrow_function body: (_) @members)
  ]))) @definition.method

(function_signature name: (_) @name) @definition.function
(export_statement declaration: (function_signature name: (_) @name)) @definition.function
(ambient_declaration (function_signature name: (_) @name)) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method

(abstract_class_declaration name: (_) @name body: (_) @members) @definition.class
(interface_declaration name: (_) @name body: (_) @members) @definition.interface
(enum_declaration name: (_) @name body: (_) @members) @definition.enum
(type_alias_declaration name: (_) @name value: (_) @members) @definition.type
(internal_module name: (_) @name body: (_) @members) @definition.namespace
(module name: [(identifier) (nested_identifier)] @name body: (_) @members) @definition.namespace
(module name: (string (string_fragment) @title) body: (_) @members) @definition.module

(export_statement declaration: (abstract_class_declaration name: (_) @name body: (_) @members)) @definition.class
(export_statement declaration: (interface_declaration name: (_) @name body: (_) @members)) @definition.interface
(export_statement declaration: (enum_declaration name: (_) @name body: (_) @members)) @definition.enum
(export_statement declaration: (type_alias_declaration name: (_) @name value: (_) @members)) @definition.type
(export_statement declaration: (internal_module name: (_) @name body: (_) @members)) @definition.namespace
(export_statement declaration: (module name: (identifier) @name body: (_) @members)) @definition.namespace
(expression_statement (internal_module name: (_) @name body: (_) @members)) @definition.namespace

(ambient_declaration (class_declaration name: (_) @name body: (_) @members)) @definition.class
(ambient_declaration (abstract_class_declaration name: (_) @name body: (_) @members)) @definition.class
(ambient_declaration (interface_declaration name: (_) @name body: (_) @members)) @definition.interface
(ambient_declaration (enum_declaration name: (_) @name body: (_) @members)) @definition.enum
(ambient_declaration (type_alias_declaration name: (_) @name value: (_) @members)) @definition.type
(ambient_declaration (internal_module name: (_) @name body: (_) @members)) @definition.namespace
(ambient_declaration (module name: (identifier) @name body: (_) @members)) @definition.namespace
(ambient_declaration (module name: (string (string_fragment) @title) body: (_) @members)) @definition.module
(ambient_declaration "global" @name (statement_block) @members) @definition.namespace

(export_statement
  declaration: (ambient_declaration [
    (function_signature name: (_) @name)
  ])) @definition.function
(export_statement
  declaration: (ambient_declaration [
    (class_declaration name: (_) @name body: (_) @members)
    (abstract_class_declaration name: (_) @name body: (_) @members)
  ])) @definition.class
(export_statement
  declaration: (ambient_declaration (internal_module name: (_) @name body: (_) @members))) @definition.namespace

; Functions in parentheses with a type after them: ``const load = (async () => {}) satisfies Load``.
(export_statement declaration: (lexical_declaration
  .
  (variable_declarator
    name: (identifier) @name
    value: [
      (as_expression . (parenthesized_expression (arrow_function body: (_) @members)))
      (satisfies_expression . (parenthesized_expression (arrow_function body: (_) @members)))
    ])
  .)) @definition.function

; Objects and arrays with a type after them, such as ``as const``.
(lexical_declaration
  .
  (variable_declarator
    name: (identifier) @name
    value: [
      (as_expression . [(object) (array)] @members)
      (satisfies_expression . [(object) (array)] @members)
      (satisfies_expression . (as_expression . [(object) (array)] @members))
    ])
  .) @definition.object
(export_statement declaration: (lexical_declaration
  .
  (variable_declarator
    name: (identifier) @name
    value: [
      (as_expression . [(object) (array)] @members)
      (satisfies_expression . [(object) (array)] @members)
      (satisfies_expression . (as_expression . [(object) (array)] @members))
    ])
  .)) @definition.object

(import_require_clause source: (string (string_fragment) @import))

(program (lexical_declaration
  kind: "const"
  (variable_declarator
    name: (identifier) @constant
    value: (as_expression . [(string) (number) (true) (false) (template_string)]))))
(program (export_statement
  declaration: (lexical_declaration
    kind: "const"
    (variable_declarator
      name: (identifier) @constant
      value: (as_expression . [(string) (number) (true) (false) (template_string)])))))

; References. Type names refer to types, except where they are defined.
(type_identifier) @reference.type
(nested_type_identifier module: (_) @reference.scope name: (type_identifier) @reference.type)
(class_declaration name: (_) @reference.defined)
(abstract_class_declaration name: (_) @reference.defined)
(class name: (_) @reference.defined)
(interface_declaration name: (_) @reference.defined)
(type_alias_declaration name: (_) @reference.defined)
(type_parameter name: (_) @reference.defined)
(mapped_type_clause name: (_) @reference.defined)
(infer_type (type_identifier) @reference.defined)

(extends_clause value: [
  (identifier) @reference.inherit
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.inherit)
  (call_expression function: (identifier) @reference.inherit)
])
(implements_clause [
  (type_identifier) @reference.inherit
  (nested_type_identifier module: (_) @reference.scope name: (_) @reference.inherit)
  (generic_type name: (type_identifier) @reference.inherit)
  (generic_type name: (nested_type_identifier module: (_) @reference.scope name: (_) @reference.inherit))
])
(extends_type_clause type: [
  (type_identifier) @reference.inherit
  (nested_type_identifier module: (_) @reference.scope name: (_) @reference.inherit)
  (generic_type name: (type_identifier) @reference.inherit)
  (generic_type name: (nested_type_identifier module: (_) @reference.scope name: (_) @reference.inherit))
])

(import_require_clause source: (string (string_fragment) @reference.import))
