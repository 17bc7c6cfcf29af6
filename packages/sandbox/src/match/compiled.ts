import type { Matcher } from '@earshot/query';

export type Compiled<Item> =
  | { ok: true; matcher: Matcher<Item> }
  /** Worded as the platform words them. */
  | { ok: false; details: string[] };
