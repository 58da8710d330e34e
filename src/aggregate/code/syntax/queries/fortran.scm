; Fortran. Procedures have no node around their statements: declarations stay, statements go.
[
  (derived_type_definition)
  (derived_type_procedures)
  (ERROR)
  (function)
  (interface)
  (internal_procedures)
  (module)
  (module_procedure)
  (preproc_elif)
  (preproc_else)
  (preproc_if)
  (preproc_ifdef)
  (program)
  (submodule)
  (subroutine)
] @scope

(module (module_statement (name) @name) . (_) @members) @definition.module
(submodule (submodule_statement (name) @name) . (_) @members) @definition.module
(program (program_statement (name) @name) . (_) @members) @definition.program
(block_data (block_data_statement (name) @name) . (_) @members) @definition.block
(subroutine (subroutine_statement name: (_) @name) . (_) @members) @definition.subroutine
(function (function_statement name: (_) @name) . (_) @members) @definition.function
(module_procedure (module_procedure_statement name: (_) @name) . (_) @members) @definition.procedure
(interface (interface_statement [(name) (operator) (assignment) (defined_io_procedure)] @title) . (_) @members) @definition.interface
(derived_type_definition (derived_type_statement (type_name) @name) . (_) @members) @definition.type
(derived_type_procedures
  (procedure_statement
    declarator: [(binding (binding_name) @title) (method_name) @title]) @definition.method)
(derived_type_procedures
  (generic_statement declarator: (binding_list (binding_name) @title)) @definition.method)

(subroutine
  [
    (allocate_statement) (arithmetic_if_statement) (assign_statement) (assignment_statement) (associate_statement)
    (block_construct) (call_expression) (close_statement) (coarray_critical_statement) (coarray_statement)
    (coarray_team_statement) (deallocate_statement) (do_loop) (file_position_statement) (forall_statement)
    (format_statement) (if_statement) (inquire_statement) (keyword_statement) (nullify_statement) (open_statement)
    (pointer_association_statement) (print_statement) (read_statement) (select_case_statement)
    (select_rank_statement) (select_type_statement) (statement_label) (stop_statement) (subroutine_call)
    (where_statement) (write_statement)
  ] @statement)
(function
  [
    (allocate_statement) (arithmetic_if_statement) (assign_statement) (assignment_statement) (associate_statement)
    (block_construct) (call_expression) (close_statement) (coarray_critical_statement) (coarray_statement)
    (coarray_team_statement) (deallocate_statement) (do_loop) (file_position_statement) (forall_statement)
    (format_statement) (if_statement) (inquire_statement) (keyword_statement) (nullify_statement) (open_statement)
    (pointer_association_statement) (print_statement) (read_statement) (select_case_statement)
    (select_rank_statement) (select_type_statement) (statement_label) (stop_statement) (subroutine_call)
    (where_statement) (write_statement)
  ] @statement)
(module_procedure
  [
    (allocate_statement) (arithmetic_if_statement) (assign_statement) (assignment_statement) (associate_statement)
    (block_construct) (call_expression) (close_statement) (coarray_critical_statement) (coarray_statement)
    (coarray_team_statement) (deallocate_statement) (do_loop) (file_position_statement) (forall_statement)
    (format_statement) (if_statement) (inquire_statement) (keyword_statement) (nullify_statement) (open_statement)
    (pointer_association_statement) (print_statement) (read_statement) (select_case_statement)
    (select_rank_statement) (select_type_statement) (statement_label) (stop_statement) (subroutine_call)
    (where_statement) (write_statement)
  ] @statement)

; Documentation comments, by the conventions of Fortran's tools, stay.
((subroutine (comment) @lead) (#not-match? @lead "^![!<>]"))
((function (comment) @lead) (#not-match? @lead "^![!<>]"))
((module_procedure (comment) @lead) (#not-match? @lead "^![!<>]"))

(use_statement (module_name) @import)
(module (variable_declaration
  attribute: (type_qualifier) @_parameter
  declarator: (init_declarator left: (_) @constant.member)
  (#match? @_parameter "^(?i:parameter)$")))

(translation_unit . (comment) @doc.leading)
