import { z } from 'zod';

const problemSchema = z.looseObject({
  type: z.string().nullish(),
  title: z.string().nullish(),
  detail: z.string().nullish(),
  connection_issue: z.string().nullish(),
});

export type XProblem = z.output<typeof problemSchema>;

const bodySchema = z.union([z.looseObject({ errors: z.array(problemSchema).min(1) }), problemSchema]);

/** The last part of a problem's `type`: the host differs between documents and wire (x.md §5.4). */
export function problemType(type: string | null | undefined): string | null {
  return type?.split('/').at(-1) ?? null;
}

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
