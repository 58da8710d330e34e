; OCaml: interfaces.
; inherits: ocaml_common
