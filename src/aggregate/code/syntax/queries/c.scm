; C.
; inherits: c_common

; Functions, including those that return pointers or function pointers.
(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))
    (_ (_ (function_declarator declarator: (identifier) @name)))
    (_ (_ (_ (function_declarator declarator: (identifier) @name))))
  ]
  body: (compound_statement) @body) @definition.function

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
