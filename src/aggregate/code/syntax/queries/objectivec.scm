; Objective-C: classes, categories, protocols with methods and properties; functions and types of C.
[
  (class_implementation)
  (class_interface)
  (ERROR)
  (implementation_definition)
  (preproc_elif)
  (preproc_else)
  (preproc_if)
  (preproc_ifdef)
  (protocol_declaration)
  (qualified_protocol_interface_declaration)
] @scope

(class_interface
  . (identifier) @name
  category: (_)? @alias
  [(identifier) ")" (parameterized_arguments) (protocol_reference_list)]
  .
  [(comment) (instance_variables) (property_declaration) (method_declaration) (preproc_if) (preproc_ifdef) "@end"]
  @members) @definition.interface
(class_implementation
  . (identifier) @name
  category: (_)? @alias
  [(identifier) ")"]
  .
  [(comment) (instance_variables) (implementation_definition) (preproc_if) (preproc_ifdef) "@end"]
  @members) @definition.implementation
(class_interface
  . (identifier) @name
  .
  [(comment) (instance_variables) (property_declaration) (method_declaration) (preproc_if) (preproc_ifdef) "@end"]
  @members) @definition.interface
(class_implementation
  . (identifier) @name
  .
  [(comment) (instance_variables) (implementation_definition) (preproc_if) (preproc_ifdef) "@end"]
  @members) @definition.implementation
(protocol_declaration
  . (identifier) @name
  .
  (protocol_reference_list)?
  .
  [(comment) (qualified_protocol_interface_declaration) (property_declaration) (method_declaration) "@end"]
  @members) @definition.protocol

(method_declaration (method_type) . (identifier) @name) @definition.method
(method_definition (method_type) . (identifier) @name (compound_statement) @body) @definition.method
(property_declaration (struct_declaration (struct_declarator [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (function_declarator
    declarator: (parenthesized_declarator (block_pointer_declarator declarator: (identifier) @name)))
]))) @definition.property

(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))
    (_ (_ (function_declarator declarator: (identifier) @name)))
  ]
  body: (compound_statement) @body) @definition.function
(type_definition
  declarator: [
    (type_identifier) @name
    (_ declarator: (type_identifier) @name)
    (function_declarator
      declarator: (parenthesized_declarator (block_pointer_declarator declarator: (type_identifier) @name)))
  ]) @definition.typedef

(preproc_include path: (_) @import)
(module_import path: (_) @import)
(translation_unit . (comment) @doc.leading)

; References.
(call_expression function: (identifier) @reference.call)
(message_expression receiver: (_) @reference.scope method: (identifier) @reference.call)
((message_expression receiver: (identifier) @reference.type)
  (#match? @reference.type "^[A-Z]"))
(type_identifier) @reference.type
(type_definition declarator: (type_identifier) @reference.defined)

(class_interface superclass: (identifier) @reference.inherit)
(class_interface (parameterized_arguments (type_name (type_identifier) @reference.inherit)))

(preproc_include path: [(string_literal (string_content) @reference.import) (system_lib_string) @reference.import])
(module_import path: (identifier) @reference.import)

; Declared functions, and all but the last of several heads over one body.
(translation_unit (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
]) @definition.prototype)
