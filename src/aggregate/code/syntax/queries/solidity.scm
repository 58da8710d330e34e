; Solidity.
(ERROR) @scope

(contract_declaration name: (_) @name body: (_) @members @scope) @definition.contract
(interface_declaration name: (_) @name body: (_) @members @scope) @definition.interface
(library_declaration name: (_) @name body: (_) @members @scope) @definition.library
(struct_declaration name: (_) @name body: (_) @members) @definition.struct
(enum_declaration name: (_) @name body: (_) @members) @definition.enum
(event_definition name: (_) @name) @definition.event
(error_declaration name: (_) @name) @definition.error
(user_defined_type_definition name: (_) @name) @definition.type

(function_definition name: (_) @name body: (_) @body) @definition.function
(function_definition name: (_) @name !body) @definition.function
(modifier_definition name: (_) @name body: (_) @body) @definition.modifier
(modifier_definition name: (_) @name !body) @definition.modifier
(constructor_definition "constructor" @name body: (_) @body) @definition.constructor
(fallback_receive_definition . ["receive" "fallback" "function"] @name body: (_) @body) @definition.function
(fallback_receive_definition . ["receive" "fallback" "function"] @name !body) @definition.function

(import_directive source: (_) @import)
(constant_variable_declaration name: (_) @constant)
((state_variable_declaration name: (_) @constant.member) @_declaration
  (#match? @_declaration "\\sconstant\\s"))

(source_file . (comment) @doc.leading)

; References.
(call_expression function: (expression (identifier) @reference.call))
(call_expression
  function: (expression
    (member_expression object: (_) @reference.scope property: (identifier) @reference.call)))
(emit_statement name: (expression (identifier) @reference.call))
(modifier_invocation (identifier) @reference.call)
(user_defined_type (identifier) @reference.type .)

(inheritance_specifier ancestor: (user_defined_type (identifier) @reference.inherit .))

(import_directive source: (string) @reference.scope) @reference.within
(import_directive import_name: (identifier) @reference.member)
(import_directive "import" . source: (string) @reference.import)
