import { z } from 'zod';
import { problemType, type XProblem } from './ending.ts';

const problemSchema = z.looseObject({
  type: z.string().nullish(),
  title: z.string().nullish(),
  detail: z.string().nullish(),
  connection_issue: z.string().nullish(),
  disconnect_type: z.string().nullish(),
});

const bodySchema = z.union([z.looseObject({ errors: z.array(problemSchema).min(1) }), problemSchema]);

/** The problem of an error body, which stands at the top level or inside `errors`. */
export function problemOf(body: unknown): XProblem {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) return {};
  const { errors, ...top } = parsed.data;
  return Array.isArray(errors) && !('type' in top && top.type) ? (errors[0] ?? {}) : top;
}

export function problemIn(body: unknown, type: string): boolean {
  return problemType(problemOf(body).type) === type;
}
