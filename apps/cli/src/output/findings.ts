import { applyFix, underline } from '@earshot/query';
import type { ErrorDetails } from '@earshot/sdk';
import { shellQuoted, spaced } from './printable.ts';

/** What the API says about one place of a value: a diagnostic, or a violation with its field. */
type Finding = Omit<NonNullable<ErrorDetails['violations']>[number], 'field' | 'severity'> & {
  severity?: string | undefined;
};

/** Carets below the place, the message, and each fix as something to paste. */
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
    const mended = applyFix(value ?? '', { edits }).trim();
    // Without the value there is nothing to mend, and an empty rule mends nothing.
    if (value === undefined || mended === '') continue;
    const perhaps = fix.certainty === 'guess' ? 'Perhaps: ' : '';
    lines.push(`  ${perhaps}${spaced(fix.title)}:`, `    ${option} ${shellQuoted(mended)}`);
  }
  return lines.join('\n');
}
