; Swift. Classes, structures, enumerations, actors and extensions share one kind of node.
(ERROR) @scope

(class_declaration
  "class"
  name: (_) @name
  body: (class_body) @members @scope) @definition.class
(class_declaration
  "struct"
  name: (_) @name
  body: (class_body) @members @scope) @definition.struct
(class_declaration
  "actor"
  name: (_) @name
  body: (class_body) @members @scope) @definition.actor
(class_declaration
  "enum"
  name: (_) @name
  body: (enum_class_body) @members @scope) @definition.enum
(class_declaration
  "extension"
  name: (_) @name
  body: (_) @members @scope) @definition.extension
(protocol_declaration
  name: (_) @name
  body: (protocol_body) @members @scope) @definition.protocol
(typealias_declaration name: (type_identifier) @name "=") @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

; A function may be named by an operator.
(function_declaration
  name: [
    (simple_identifier)
    (custom_operator)
    (bang)
    "==" "!=" "===" "!==" "<" ">" "<=" ">=" "+" "-" "*" "/" "%" "+=" "-=" "*=" "/=" "%=" "++" "--" "&" "|" "^" "<<" ">>"
    "~" "!" "..." "..<" "&&" "||" "??"
  ] @title
  body: (function_body) @members) @definition.function
(function_declaration body: (function_body) @body)
(protocol_function_declaration
  name: [
    (simple_identifier)
    (custom_operator)
    (bang)
    "==" "!=" "<" ">" "<=" ">=" "+" "-" "*" "/" "%"
  ] @title) @definition.function
(init_declaration
  "init" @name
  body: (function_body)? @body) @definition.constructor
(deinit_declaration
  "deinit" @name
  body: (function_body) @body) @definition.destructor
(subscript_declaration
  "subscript" @name
  (computed_property) @body) @definition.subscript
(macro_declaration (simple_identifier) @name) @definition.macro

(property_declaration
  name: (pattern) @name
  computed_value: (computed_property) @members) @definition.property
(property_declaration computed_value: (computed_property) @body)
(property_declaration (willset_didset_block) @body)

; Closures outside functions are values of properties.
(property_declaration value: (_) @scope.deep)
(lambda_literal) @body

(import_declaration (identifier) @import)
(source_file (property_declaration name: (pattern) @constant))

(source_file . (comment) @doc.leading)
(source_file . (multiline_comment) @doc.leading)

; References.
(call_expression . (simple_identifier) @reference.call)
(call_expression
  . (navigation_expression
      target: (_) @reference.scope
      suffix: (navigation_suffix suffix: (simple_identifier) @reference.call)))
(navigation_expression
  target: (_) @reference.scope
  suffix: (navigation_suffix suffix: (simple_identifier) @reference.attribute))

; Type names refer to types; extensions name theirs the same way.
(user_type (type_identifier) @reference.type)

(inheritance_specifier inherits_from: (user_type (type_identifier) @reference.inherit))

(import_declaration (identifier (simple_identifier) @reference.import .) @reference.scope)
