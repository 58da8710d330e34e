; Dart. A signature and its body are siblings after the annotations.
(ERROR) @scope

(class_definition
  name: (identifier) @name
  body: (class_body) @members @scope) @definition.class
(mixin_declaration
  (mixin)
  .
  (identifier) @name
  (class_body) @members @scope) @definition.mixin
(enum_declaration
  name: (identifier) @name
  body: (enum_body) @members @scope) @definition.enum
(extension_declaration
  name: (identifier)? @name
  body: (extension_body) @members @scope) @definition.extension
(extension_type_declaration
  name: (identifier) @name
  body: (_) @members @scope) @definition.extension
(type_alias . (type_identifier) @name "=") @definition.type
(type_alias (type_identifier) @name . (formal_parameter_list)) @definition.type

((annotation)* @definition.function .
  [
    (function_signature name: (identifier) @name)
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
  ] @definition.function
  .
  (function_body)? @members @definition.function)

((annotation)* @definition.method .
  (method_signature
    [
      (function_signature name: (identifier) @name)
      (getter_signature name: (identifier) @name)
      (setter_signature name: (identifier) @name)
      (operator_signature "operator" . _ @title)
    ]) @definition.method
  .
  (function_body) @members @definition.method)
((annotation)* @definition.constructor .
  (method_signature
    [
      (constructor_signature name: (identifier) @name . (formal_parameter_list))
      (factory_constructor_signature (identifier) @name . (formal_parameter_list))
    ]) @definition.constructor
  .
  (function_body) @members @definition.constructor)

((annotation)* @definition.method .
  (declaration
    [
      (function_signature name: (identifier) @name)
      (getter_signature name: (identifier) @name)
      (setter_signature name: (identifier) @name)
      (operator_signature "operator" . _ @title)
    ]) @definition.method)
((annotation)* @definition.constructor .
  (declaration
    [
      (constructor_signature name: (identifier) @name . (formal_parameter_list))
      (constant_constructor_signature (identifier) @name . (formal_parameter_list))
      (factory_constructor_signature (identifier) @name . (formal_parameter_list))
      (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
    ]) @definition.constructor)

; An expression on one line is as short as a signature and stays.
(function_body (block) @body)
((function_body "=>" . (_) @body.first ";" @body.until) @_body
  (#match? @_body "\n"))

; Functions outside functions are values of fields and variables.
(declaration) @scope.deep
(program (initialized_identifier_list) @scope.deep)
(program (static_final_declaration_list) @scope.deep)
(function_expression_body (block) @body)

(import_or_export (library_import (import_specification (configurable_uri) @import)))
(import_or_export (library_export (configurable_uri) @import))
(program (static_final_declaration_list (static_final_declaration . (identifier) @constant)))
(declaration
  (static_final_declaration_list (static_final_declaration . (identifier) @constant.member)))

(program . (comment) @doc.leading)
(program . (documentation_comment) @doc.leading)

; References. Arguments are siblings after the callee.
((identifier) @reference.call . (selector (argument_part)))
((selector (_ (identifier) @reference.call)) . (selector (argument_part)))
(type_identifier) @reference.type
(class_definition name: (_) @reference.defined)
(superclass (type_identifier) @reference.inherit)
(mixins (type_identifier) @reference.inherit)
(interfaces (type_identifier) @reference.inherit)
(import_specification (configurable_uri (uri (string_literal) @reference.import)))
