import { applyFix, type Diagnostic, type Edit, isClear } from './diagnostics.ts';
import type { Language } from './language.ts';

/** A fix may uncover another mistake. A longer chain is not the correction of one mistake. */
const roundsMax = 10;

/**
 * Applies certain fixes until none are left. Null if nothing changes, if the result is not valid, or if a fix removed
 * a suspicious finding that it did not answer: then the author has to choose. So a correction has the intended
 * meaning, or there is none.
 */
export function corrected(language: Pick<Language, 'validate'>, text: string): string | null {
  let [value, judged] = [text, language.validate(text)];
  for (let round = 0; round < roundsMax && !judged.valid; round += 1) {
    if (isOpenQuestion(judged.diagnostics)) return null;
    const edits = certainEdits(judged.diagnostics);
    if (edits.length === 0) return null;
    value = applyFix(value, { edits }).trim();
    judged = language.validate(value);
  }
  return value === text || !judged.valid ? null : value;
}

/** Next to an error, a suspicious finding may come from a text that was read wrongly: it is judged again without the error. */
function isOpenQuestion(diagnostics: readonly Diagnostic[]): boolean {
  if (diagnostics.some(({ severity }) => severity === 'error')) return false;
  return diagnostics.some(
    ({ severity, fixes }) =>
      severity === 'suspicious' && !fixes.some(({ certainty }) => certainty === 'certain'),
  );
}

/** Of the first certain fix of each error and suspicious finding, as far as they do not overlap. */
function certainEdits(diagnostics: readonly Diagnostic[]): readonly Edit[] {
  const edits: Edit[] = [];
  for (const diagnostic of diagnostics) {
    if (isClear(diagnostic)) continue;
    const fix = diagnostic.fixes.find(({ certainty }) => certainty === 'certain');
    if (fix !== undefined && !fix.edits.some((edit) => edits.some((other) => overlap(edit, other))))
      edits.push(...fix.edits);
  }
  return edits;
}

/** Two insertions at one place depend on their order, so they count as overlapping. */
function overlap({ span: [start, end] }: Edit, { span: [otherStart, otherEnd] }: Edit): boolean {
  return (start < otherEnd && otherStart < end) || (start === otherStart && end === otherEnd);
}
