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

/** What to say of a view that was set; within a budget a view is the most that is shown. */
export function sentenceOf(what, view, { budget_tokens: budget }) {
  if (view === "out") return `${what}: taken out.`;
  if (budget !== null && view === "full") return `${what}: full, as far as the budget goes; Always whole, above its view, shows it whatever it costs.`;
  return `${what}: ${view}.`;
}
