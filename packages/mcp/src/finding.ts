import type { Violation } from '@earshot/contract';
import { applyFix, type Fix, underline } from '@earshot/query';
import { z } from 'zod';

/** A problem in a query: its position, and the whole query after each fix. */
export const findingSchema = z.object({
  severity: z.string().optional(),
  code: z.string(),
  message: z.string(),
  excerpt: z.string().optional(),
  fixes: z
    .array(z.object({ title: z.string(), certainty: z.enum(['certain', 'guess']), value: z.string() }))
    .optional()
    .meta({ description: 'value: the whole query after the fix. Choose a guess by the intent' }),
});

export type Finding = z.output<typeof findingSchema>;

/** The fields that violations and diagnostics share. */
export type Place = Pick<Violation, 'code' | 'message' | 'span' | 'fixes'> & {
  readonly severity?: string | undefined;
};

const excerptColumns = 100;

export function toFinding(value: string | undefined, place: Place): Finding {
  const { severity, code, message, span, fixes = [] } = place;
  const common = { ...(severity !== undefined && { severity }), code, message };
  if (value === undefined || span === undefined) return common;
  return {
    ...common,
    excerpt: underline(value, [span.start, span.end], excerptColumns)
      .map((line) => `  ${line}`)
      .join('\n'),
    ...(fixes.length > 0 && {
      fixes: fixes
        .map(toFix)
        .map((fix) => ({ title: fix.title, certainty: fix.certainty, value: applyFix(value, fix) })),
    }),
  };
}

const findingsMax = 10;
const fixCharsMax = 8_000;

/**
 * The first findings, with their fixes while there is room. Each fix repeats the whole query, and a long query can have a
 * mistake at every word. The next call reports the remaining findings.
 */
export function firstFindings<One extends Finding>(findings: readonly One[]): One[] {
  let chars = 0;
  return findings.slice(0, findingsMax).map((finding) => {
    const { fixes, ...rest } = finding;
    const hasRoom = chars < fixCharsMax;
    for (const { value } of fixes ?? []) chars += value.length;
    // Without `fixes`, which is optional, it is still a finding.
    return hasRoom ? finding : (rest as One);
  });
}

/** For people, and for agents that see text only. */
export function renderFinding({ severity, code, message, excerpt, fixes = [] }: Finding): string {
  const lines = [`${severity ?? 'error'} [${code}]: ${message}`];
  if (excerpt !== undefined) lines.push(excerpt);
  for (const { title, certainty, value } of fixes)
    lines.push(`  ${certainty === 'certain' ? 'fix' : 'perhaps'} (${title}): ${value}`);
  return lines.join('\n');
}

function toFix({ title, certainty, edits }: NonNullable<Violation['fixes']>[number]): Fix {
  return { title, certainty, edits: edits.map(({ span, text }) => ({ span: [span.start, span.end], text })) };
}
