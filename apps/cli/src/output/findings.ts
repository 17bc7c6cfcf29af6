import { applyFix, underline } from '@earshot/query';
import type { ErrorDetails } from '@earshot/sdk';
import { shellQuoted, spaced } from './printable.ts';

/** A finding of the API about one place of a query: a diagnostic, or a violation without its field. */
type Finding = Omit<NonNullable<ErrorDetails['violations']>[number], 'field' | 'severity'> & {
  severity?: string | undefined;
};

/** Renders the query with carets, the message, and each fix as an option to paste. */
export function renderFinding(
  finding: Finding,
  typed: { readonly option: string; readonly value: string | undefined; readonly columns: number },
): string {
  const { option, value, columns } = typed;
  const lines = [`${finding.severity ?? 'error'}: ${spaced(finding.message)} [${finding.code}]`];
  if (value !== undefined && finding.span) {
    const [text, carets] = underline(
      value,
      [finding.span.start, finding.span.end],
      columns - option.length - 5,
    );
    lines.unshift(`  ${option}  ${text}`, `  ${' '.repeat(option.length)}  ${carets}`);
  } else if (option !== '') lines[0] = `${option}: ${lines[0] ?? ''}`;
  for (const fix of finding.fixes ?? []) {
    const edits = fix.edits.map(({ span, text }) => ({ span: [span.start, span.end] as const, text }));
    const fixed = applyFix(value ?? '', { edits }).trim();
    // An empty query is not a fix.
    if (value === undefined || fixed === '') continue;
    const perhaps = fix.certainty === 'guess' ? 'Perhaps: ' : '';
    lines.push(`  ${perhaps}${spaced(fix.title)}:`, `    ${option} ${shellQuoted(fixed)}`);
  }
  return lines.join('\n');
}

/** Renders hints about the intent of a rule. */
export function intentHints(hints: readonly Pick<Finding, 'code' | 'message'>[]): string[] {
  const typed = { option: '--intent', value: undefined, columns: 0 };
  return hints.map((hint) => renderFinding({ ...hint, severity: 'hint' }, typed));
}
