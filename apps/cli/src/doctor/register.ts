export const stepIds = ['X0', 'X1', 'X2', 'X3', 'X4', 'X5', 'X6', 'F0', 'F1', 'F2', 'F3', 'B0'] as const;
export type StepId = (typeof stepIds)[number];

/** One row of a register in docs/upstreams, and the step that checks it. */
export interface Assumption {
  readonly step: StepId;
  readonly question: string;
  readonly expected: string;
}

export const settledBy = (step: StepId, question: string, expected: string): Assumption => ({
  step,
  question,
  expected,
});
