import { applyFix, type Diagnostic, type Edit } from './diagnostics.ts';
import type { Language } from './language.ts';

/** A fix may uncover another mistake. A longer chain is not the correction of one mistake. */
const roundsMax = 10;

/**
 * Applies certain fixes until none are left. Null if nothing changes, if the result is not valid, or if it has a finding
 * that the text did not have. So a correction has the intended meaning, or there is none.
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
