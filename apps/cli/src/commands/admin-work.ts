import type { Admin } from '@earshot/server/admin';

/** `json` for programs, `text` for people. */
export interface Outcome {
  readonly json: object;
  readonly text: string;
}

export type Work = (admin: Admin) => Promise<Outcome>;
