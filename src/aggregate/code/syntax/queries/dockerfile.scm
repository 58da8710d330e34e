; Dockerfiles: a stage extends to the next one and contains its instructions.
(from_instruction (image_spec) @level.1) @definition.instruction
(from_instruction (image_spec) @level.1 as: (_) @name) @definition.instruction
(arg_instruction (arg_pair name: (_) @name)) @definition.instruction
(env_instruction (env_pair name: (_) @name)) @definition.instruction
(source_file
  [
    (add_instruction) (cmd_instruction) (copy_instruction) (entrypoint_instruction) (expose_instruction)
    (healthcheck_instruction) (label_instruction) (maintainer_instruction) (onbuild_instruction) (run_instruction)
    (shell_instruction) (stopsignal_instruction) (user_instruction) (volume_instruction) (workdir_instruction)
  ] @definition.instruction)

((from_instruction (image_spec) @import) (#not-eq? @import "scratch"))

(source_file . (comment) @doc.leading)
