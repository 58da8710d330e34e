// What the views of a file mean, for whoever meets their names for the first time.

export const VIEW_MEANINGS = {
  full: "the whole text",
  summary: "a digest, of what it is about and what it defines",
  skeleton: "signatures and documentation, without the bodies of functions",
  outline: "a row for each definition",
  masked: "only the definitions that you mark in the source",
  custom: "only the slices that you make of its lines",
  none: "its name stands in the prompt, as excluded, without text",
  focused: "chosen definitions in full, the others by their signatures",
  out: "taken out of the prompt",
};
