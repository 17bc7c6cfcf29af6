import { applyFix, type Diagnostic, type Edit } from './diagnostics.ts';
import type { Language } from './language.ts';

/** Fixes may uncover one another; a chain this long is no correction of one mistake. */
const roundsMax = 10;

/**
 * The text after its certain fixes, applied until there are none left; null when nothing changes, when the result is not
 * valid, or when it brings a finding that the text did not have. So whoever sends it gets what was meant, or nothing.
 */
export function corrected(language: Pick<Language, 'validate'>, text: string): string | null {
  const before = language.validate(text);
  let [value, judged] = [text, before];
  for (let round = 0; round < roundsMax; round += 1) {
    const edits = certainEdits(judged.diagnostics);
    if (edits.length === 0) break;
    value = applyFix(value, { edits }).trim();
    judged = language.validate(value);
  }
  const known = new Set(before.diagnostics.map(({ code }) => code));
  const isWorse = judged.diagnostics.some(({ code }) => !known.has(code));
  return value === text || !judged.valid || isWorse ? null : value;
}

/** Of the first certain fix of each finding, as far as they do not overlap. */
function certainEdits(diagnostics: readonly Diagnostic[]): readonly Edit[] {
  const edits: Edit[] = [];
  for (const { fixes } of diagnostics) {
    const fix = fixes.find(({ certainty }) => certainty === 'certain');
    if (fix !== undefined && !fix.edits.some((edit) => edits.some((other) => overlap(edit, other))))
      edits.push(...fix.edits);
  }
  return edits;
}

/** Two insertions at one place depend on their order, so they count as overlapping. */
function overlap({ span: [start, end] }: Edit, { span: [otherStart, otherEnd] }: Edit): boolean {
  return (start < otherEnd && otherStart < end) || (start === otherStart && end === otherEnd);
}
