; Haskell. Each equation of a function is a definition, and so is its signature.
(function match: (match expression: (_) @body))
; An equation on one line without arguments is as short as a signature and stays.
((bind match: (match expression: (_) @body))
  (#match? @body "\n"))

(header module: (module) @package)

(declarations
  (signature
    [
      name: (_) @name
      names: (binding_list . name: (_) @name)
    ]) @definition.function)
(class_declarations
  (signature
    [
      name: (_) @name
      names: (binding_list . name: (_) @name)
    ]) @definition.function)
(declarations
  (function
    name: (_) @name
    match: (match) @members) @definition.function)
(declarations
  (function
    (infix operator: [(operator) @title (infix_id (variable) @title)])
    match: (match) @members) @definition.function)
(declarations
  (bind
    name: (_) @name
    match: (match) @members) @definition.function)
(class_declarations
  (function
    name: (_) @name
    match: (match) @members) @definition.function)
(instance_declarations
  (function
    name: (_) @name
    match: (match) @members) @definition.function)
(instance_declarations
  (function
    (infix operator: [(operator) @title (infix_id (variable) @title)])
    match: (match) @members) @definition.function)
(instance_declarations
  (bind
    name: (_) @name
    match: (match) @members) @definition.function)

(declarations
  (data_type
    name: (_) @name
    ["=" "where"] @members) @definition.data)
(declarations (data_type name: (_) @name !constructors) @definition.data)
(declarations
  (newtype
    name: (_) @name
    "=" @members) @definition.newtype)
(declarations (type_synonym name: (_) @name) @definition.type)
(declarations
  (type_family
    name: (_) @name
    "where"? @members) @definition.type)
(declarations (data_family name: (_) @name) @definition.data)
(class_declarations (type_family name: (_) @name) @definition.type)
(declarations
  (class
    name: (_) @name
    "where"? @members) @definition.class)
(declarations
  (instance
    name: (_) @name
    "where"? @members) @definition.instance)
(foreign_import signature: (signature name: (_) @name)) @definition.function
(pattern_synonym (signature synonym: (_) @name)) @definition.pattern
(pattern_synonym (equation synonym: (_ function: (constructor) @name) "=" @members)) @definition.pattern

(import module: (module) @import)

(haskell . (pragma)* . (haddock) @doc.leading)
(haskell . (comment) @doc.leading)
