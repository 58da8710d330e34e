; Bash and other shells of its family.
(function_definition body: (compound_statement) @body)
(function_definition body: (subshell) @body)

(function_definition name: (_) @name body: (_) @members) @definition.function

(command
  name: (command_name) @_source
  .
  argument: (_) @import
  (#any-of? @_source "source" "."))

(program (variable_assignment
  name: (variable_name) @constant
  value: [(string) (raw_string) (number) (word)]))
(program (declaration_command (variable_assignment
  name: (variable_name) @constant
  value: [(string) (raw_string) (number) (word)])))

(program . (comment) @doc.leading)

; References. A script is called by the last part of its path.
(command name: (command_name (word) @reference.call))
(command
  name: (command_name (word) @_source)
  .
  argument: [(word) (string) (raw_string) (concatenation)] @reference.import
  (#any-of? @_source "source" "."))
