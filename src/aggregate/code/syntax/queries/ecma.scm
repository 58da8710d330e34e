; Common to JavaScript and TypeScript. Functions occur in any expression, so nothing is a scope.

; Bodies of functions.
(function_declaration body: (statement_block) @body)
(generator_function_declaration body: (statement_block) @body)
(function_expression body: (statement_block) @body)
(generator_function body: (statement_block) @body)
(arrow_function body: (statement_block) @body)
(method_definition body: (statement_block) @body)
(class_static_block body: (statement_block) @body)

; Wrappers around a whole file stay open: immediately called functions in all their spellings ...
(program (expression_statement
  (call_expression function: (parenthesized_expression (_ body: (statement_block) @keep)))))
(program (expression_statement
  (call_expression function: (member_expression object: (parenthesized_expression (_ body: (statement_block) @keep))))))
(program (expression_statement
  (parenthesized_expression (call_expression function: (function_expression body: (statement_block) @keep)))))
(program (expression_statement
  (parenthesized_expression
    (call_expression function: (member_expression object: (function_expression body: (statement_block) @keep))))))
(program (expression_statement
  (unary_expression argument: (call_expression function: (function_expression body: (statement_block) @keep)))))
(program (expression_statement
  (await_expression (call_expression function: (parenthesized_expression (_ body: (statement_block) @keep))))))
(program (expression_statement
  (call_expression
    function: (call_expression
      function: (identifier) @_await
      arguments: (arguments (_ body: (statement_block) @keep)))
    (#eq? @_await "await"))))
(program (_ (variable_declarator
  value: (call_expression function: (parenthesized_expression (_ body: (statement_block) @keep))))))
(program (_ (variable_declarator
  value: (parenthesized_expression (call_expression function: (function_expression body: (statement_block) @keep))))))
(program (expression_statement (assignment_expression
  right: (call_expression function: (parenthesized_expression (_ body: (statement_block) @keep))))))
(program (expression_statement (assignment_expression
  right: (parenthesized_expression (call_expression function: (function_expression body: (statement_block) @keep))))))

; ... factories passed to them ...
(program (expression_statement
  (call_expression
    function: (parenthesized_expression (function_expression))
    arguments: (arguments (_ body: (statement_block) @keep)))))
(program (expression_statement
  (call_expression
    function: (parenthesized_expression (function_expression))
    arguments: (arguments (parenthesized_expression (function_expression body: (statement_block) @keep))))))
(program (expression_statement
  (parenthesized_expression
    (call_expression
      function: (function_expression)
      arguments: (arguments (_ body: (statement_block) @keep))))))

; ... module loaders and start-up callbacks ...
(program (expression_statement
  (call_expression
    function: (_) @_loader
    arguments: (arguments (_ body: (statement_block) @keep))
    (#match? @_loader "^(define|require|requirejs|[$]|jQuery|QUnit[.]module|System[.]register|([$]|jQuery)[(]document[)][.]ready)$"))))

; ... and other callbacks that declare functions or classes.
(program (expression_statement
  (call_expression
    arguments: (arguments
      (_ body: (statement_block
        [(function_declaration) (generator_function_declaration) (class_declaration)]) @keep)))))

; So do uncalled functions in parentheses that declare functions.
(variable_declarator
  value: (parenthesized_expression
    (function_expression body: (statement_block (function_declaration)) @keep)))

; Groups of tests stay open at any level.
(call_expression
  function: [
    (identifier) @_group
    (member_expression object: (identifier) @_group)
    (call_expression function: (member_expression object: (identifier) @_group))
  ]
  arguments: (arguments (_ body: (statement_block) @keep))
  (#any-of? @_group "describe" "context" "suite" "fdescribe" "xdescribe"))

; Functions.
[
  (function_declaration name: (_) @name body: (_) @members)
  (generator_function_declaration name: (_) @name body: (_) @members)
] @definition.function

(export_statement
  declaration: [
    (function_declaration name: (_) @name body: (_) @members)
    (generator_function_declaration name: (_) @name body: (_) @members)
  ]) @definition.function

(export_statement
  "default" @name
  value: [
    (function_expression !name body: (_) @members)
    (generator_function !name body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.function

(variable_declarator
  name: (_) @name
  value: [
    (function_expression body: (_) @members)
    (generator_function body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.function

(lexical_declaration
  .
  (variable_declarator
    name: (_) @name
    value: [
      (function_expression body: (_) @members)
      (generator_function body: (_) @members)
      (arrow_function body: (_) @members)
    ])
  .) @definition.function

(variable_declaration
  .
  (variable_declarator
    name: (_) @name
    value: [
      (function_expression body: (_) @members)
      (generator_function body: (_) @members)
      (arrow_function body: (_) @members)
    ])
  .) @definition.function

; Exports: functions, and values made from functions by a call, such as components, stores and actions.
(export_statement
  declaration: (lexical_declaration
    .
    (variable_declarator
      name: (_) @name
      value: [
        (function_expression body: (_) @members)
        (generator_function body: (_) @members)
        (arrow_function body: (_) @members)
        (call_expression arguments: [
          (arguments . [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
          (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)] .)
          (arguments (object [
            (method_definition)
            (pair value: [(function_expression) (generator_function) (arrow_function)])
          ]) @members .)
        ])
      ])
    .)) @definition.function

(assignment_expression
  left: (_) @name
  right: [
    (function_expression body: (_) @members)
    (generator_function body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.function

(expression_statement
  (assignment_expression
    left: (_) @name
    right: [
      (function_expression body: (_) @members)
      (generator_function body: (_) @members)
      (arrow_function body: (_) @members)
      (assignment_expression
        right: [
          (function_expression body: (_) @members)
          (generator_function body: (_) @members)
          (arrow_function body: (_) @members)
        ])
    ])) @definition.function

; Functions passed to component wrappers.
(lexical_declaration
  (variable_declarator
    name: (identifier) @name
    value: (call_expression
      function: [(identifier) @_wrapper (member_expression property: (property_identifier) @_wrapper)]
      arguments: (arguments . [(function_expression body: (_) @members) (arrow_function body: (_) @members)])))
  (#any-of? @_wrapper "memo" "forwardRef" "observer")) @definition.function

(method_definition
  name: [
    (property_identifier) @name
    (private_property_identifier) @name
    (number) @name
    (string (string_fragment) @title)
    (computed_property_name) @title
  ]
  body: (_) @members) @definition.method

(pair
  key: [(property_identifier) @name (string (string_fragment) @title) (computed_property_name) @title]
  value: [
    (function_expression body: (_) @members)
    (generator_function body: (_) @members)
    (arrow_function body: (_) @members)
  ]) @definition.method

; Classes.
(class_declaration name: (_) @name body: (_) @members) @definition.class
(export_statement declaration: (class_declaration name: (_) @name body: (_) @members)) @definition.class
(export_statement "default" @name value: (class !name body: (_) @members)) @definition.class
(variable_declarator name: (_) @name value: (class body: (_) @members)) @definition.class
(lexical_declaration . (variable_declarator name: (_) @name value: (class body: (_) @members)) .) @definition.class
(expression_statement
  (assignment_expression left: (_) @name right: (class body: (_) @members))) @definition.class

; Objects with functions, and exports.
(export_statement "default" @name value: (object) @members) @definition.object
(expression_statement
  (assignment_expression left: (_) @name right: (object) @members)
  (#match? @name "^(module[.])?exports")) @definition.object
(lexical_declaration
  .
  (variable_declarator
    name: (identifier) @name
    value: (object [
      (method_definition)
      (pair value: [(function_expression) (generator_function) (arrow_function)])
    ]) @members)
  .) @definition.object
(variable_declaration
  .
  (variable_declarator
    name: (identifier) @name
    value: (object [
      (method_definition)
      (pair value: [(function_expression) (generator_function) (arrow_function)])
    ]) @members)
  .) @definition.object
(export_statement
  declaration: (lexical_declaration
    .
    (variable_declarator
      name: (identifier) @name
      value: (object [
        (method_definition)
        (pair value: [(function_expression) (generator_function) (arrow_function)])
      ]) @members)
    .)) @definition.object
(expression_statement
  (assignment_expression
    left: (_) @name
    right: (object [
      (method_definition)
      (pair value: [(function_expression) (generator_function) (arrow_function)])
    ]) @members)) @definition.object
(expression_statement
  (assignment_expression
    left: (_) @name
    right: (assignment_expression
      right: (object [
        (method_definition)
        (pair value: [(function_expression) (generator_function) (arrow_function)])
      ]) @members))) @definition.object
(pair
  key: [(property_identifier) @name (string (string_fragment) @title)]
  value: (object [
    (method_definition)
    (pair value: [(function_expression) (generator_function) (arrow_function)])
  ]) @members) @definition.object

; Constants made by calls from functions, such as ``memo(forwardRef(f))`` or ``middy(f).use(g)``, and from objects and
; templates, such as ``createSlice({})`` or ``styled.a`...```; and default exports made so.
(program (_ . (variable_declarator name: (identifier) @name value: [
      (call_expression arguments: [
        (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
        (arguments (call_expression arguments: [
          (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
          (arguments (call_expression arguments: (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])))
        ]))
      ])
      (call_expression function: (member_expression object: (call_expression arguments: (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)]))))
    ]) .) @definition.function)
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: [
      (call_expression arguments: [
        (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
        (arguments (call_expression arguments: [
          (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
          (arguments (call_expression arguments: (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])))
        ]))
      ])
      (call_expression function: (member_expression object: (call_expression arguments: (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)]))))
    ]) .)) @definition.function
(export_statement "default" @name value: [
      (call_expression arguments: [
        (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
        (arguments (call_expression arguments: [
          (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
          (arguments (call_expression arguments: (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)])))
        ]))
      ])
      (call_expression function: (member_expression object: (call_expression arguments: (arguments [(function_expression body: (_) @members) (arrow_function body: (_) @members)]))))
    ]) @definition.function
(program (_ . (variable_declarator name: (identifier) @name value: [
      (call_expression arguments: [
        (arguments (object) @members)
        (arguments (call_expression arguments: (arguments (object) @members)))
        (template_string) @members
      ])
      (call_expression function: (member_expression object: (call_expression arguments: (arguments (object) @members))))
    ]) .) @definition.object)
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: [
      (call_expression arguments: [
        (arguments (object) @members)
        (arguments (call_expression arguments: (arguments (object) @members)))
        (template_string) @members
      ])
      (call_expression function: (member_expression object: (call_expression arguments: (arguments (object) @members))))
    ]) .)) @definition.object
(export_statement "default" @name value: [
      (call_expression arguments: [
        (arguments (object) @members)
        (arguments (call_expression arguments: (arguments (object) @members)))
        (template_string) @members
      ])
      (call_expression function: (member_expression object: (call_expression arguments: (arguments (object) @members))))
    ]) @definition.object

; Members of objects passed to calls, made by calls from functions, such as a router's procedures.
(arguments (object (pair
  key: (property_identifier) @name
  value: (call_expression arguments: (arguments [
    (function_expression body: (_) @members)
    (arrow_function body: (_) @members)
  ]))) @definition.method))

; Tests.
(call_expression
  function: [
    (identifier) @_group
    (member_expression object: (identifier) @_group)
    (call_expression function: (member_expression object: (identifier) @_group))
  ]
  arguments: (arguments
    .
    [(string (string_fragment) @title) (template_string) @title]
    [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
  (#any-of? @_group "describe" "context" "suite" "fdescribe" "xdescribe")) @definition.suite
(call_expression
  function: [
    (identifier) @_test
    (member_expression object: (identifier) @_test)
    (call_expression function: (member_expression object: (identifier) @_test))
  ]
  arguments: (arguments
    .
    [(string (string_fragment) @title) (template_string) @title]
    [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
  (#any-of? @_test "it" "test" "specify" "fit" "xit")) @definition.test

(call_expression
  function: (member_expression object: (identifier) @_unit property: (property_identifier) @_test)
  arguments: (arguments
    .
    [(string (string_fragment) @title) (template_string) @title]
    [(function_expression body: (_) @members) (arrow_function body: (_) @members)])
  (#eq? @_unit "QUnit")
  (#eq? @_test "test")) @definition.test

(import_statement source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @title)) @definition.export
(export_statement !source (export_clause) @title) @definition.export
(call_expression
  function: [(identifier) (import)] @_require
  arguments: (arguments . (string (string_fragment) @import))
  (#any-of? @_require "require" "import"))

(program (lexical_declaration
  kind: "const"
  (variable_declarator
    name: (identifier) @constant
    value: [(string) (number) (true) (false) (null) (regex) (template_string) (unary_expression)])))
(program (export_statement
  declaration: (lexical_declaration
    kind: "const"
    (variable_declarator
      name: (identifier) @constant
      value: [(string) (number) (true) (false) (null) (regex) (template_string) (unary_expression)]))))

(program . (hash_bang_line)? . (comment) @doc.leading)

; References. A module follows the names imported from it.
(call_expression function: (identifier) @reference.call)
(call_expression
  function: (member_expression
    object: (_) @reference.scope
    property: [(property_identifier) (private_property_identifier)] @reference.call))
(decorator [
  (identifier) @reference.call
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.call)
])
(new_expression constructor: [
  (identifier) @reference.type
  (member_expression object: (_) @reference.scope property: (property_identifier) @reference.type)
])
(member_expression object: (_) @reference.scope property: (property_identifier) @reference.attribute)
(assignment_expression left: (member_expression property: (_) @reference.defined))

(import_statement source: (string (string_fragment) @reference.scope)) @reference.within
(export_statement source: (string (string_fragment) @reference.scope)) @reference.within
(import_clause (identifier) @reference.member)
(import_specifier name: (identifier) @reference.member)
(export_specifier name: (identifier) @reference.member)
(import_statement "import" . source: (string (string_fragment) @reference.import))
(import_statement (import_clause (namespace_import)) source: (string (string_fragment) @reference.import))
(export_statement ["*" (namespace_export)] source: (string (string_fragment) @reference.import))
(call_expression
  function: [(identifier) (import)] @_require
  arguments: (arguments . (string (string_fragment) @reference.import))
  (#any-of? @_require "require" "import"))
(variable_declarator
  name: (object_pattern)
  value: [
    (call_expression
      function: (identifier) @_require
      arguments: (arguments . (string (string_fragment) @reference.scope)))
    (await_expression
      (call_expression
        function: (import) @_require
        arguments: (arguments . (string (string_fragment) @reference.scope))))
  ]
  (#any-of? @_require "require" "import")) @reference.within
(variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @reference.member
    (pair_pattern key: (property_identifier) @reference.member)
  ]))
