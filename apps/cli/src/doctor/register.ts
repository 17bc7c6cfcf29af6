export const stepIds = ['X0', 'X1', 'X2', 'X3', 'X4', 'X5', 'X6', 'F0', 'F1', 'F2', 'F3'] as const;
export type StepId = (typeof stepIds)[number];

/** One row of a register in docs/upstreams: what settles it, or why nothing here does. */
export type Assumption = { readonly question: string; readonly expected: string } & (
  | { readonly step: StepId }
  | { readonly notAsked: string }
);
