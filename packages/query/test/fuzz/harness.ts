import { applyFix, type Diagnostic, type Fix } from '../../src/diagnostics.ts';
import { leavesOf } from '../../src/explain.ts';
import type { Language, Parsed, Validated } from '../../src/language.ts';

/** What a run has to show, and what it found. */
export interface FuzzSummary {
  readonly worstMs: number;
  readonly worstInput: string;
  /** How often plain words, as long as an input can be, are read in the time of the worst input. */
  readonly worstInPlainTexts: number;
  /** The longest `evaluate` and `explain` of one input on the item. */
  readonly worstEvaluationMs: number;
  readonly fixesOffered: number;
  readonly fixesThatRemove: number;
  /** The first few broken promises, with the input. */
  readonly failures: readonly string[];
}

export interface FuzzOptions {
  readonly language: Language;
  /** The input of a round. */
  readonly input: (round: number) => string;
  readonly inputs: number;
  /** Against which every input is evaluated and explained. */
  readonly item: unknown;
}

interface Suspect {
  readonly text: string;
  readonly tookMs: number;
}

const failuresMax = 10;
const suspectsMax = 100;
/** A little below the length that both languages take. */
const plainWords = 'word '.repeat(800);

/**
 * Promises for any text: no throw, every span inside the text, a canonical text exactly without errors that is its own
 * canonical text, and certain fixes that remove what they are offered for.
 */
export function fuzz({ language, input, inputs, item }: FuzzOptions): FuzzSummary {
  const suspects: Suspect[] = [];
  const failures: string[] = [];
  let [fixesOffered, fixesThatRemove, worstEvaluationMs] = [0, 0, 0];
  for (let round = 0; round < inputs; round += 1) {
    const text = input(round);
    const fail = (reason: string): void => {
      if (failures.length < failuresMax) failures.push(`${reason}: ${JSON.stringify(text.slice(0, 300))}`);
    };
    try {
      const { result, tookMs } = timed(language, text);
      const { diagnostics, canonical, valid } = result;
      if (tookMs >= suspectMs) suspects.push({ text, tookMs });
      const severities = new Set(diagnostics.map(({ severity }) => severity));
      if (severities.has('error') !== (canonical === null)) fail('canonical text and errors disagree');
      if (valid === (severities.has('error') || severities.has('suspicious')))
        fail('validity and findings disagree');
      if (canonical !== null && language.validate(canonical).canonical !== canonical)
        fail('canonical text is not stable');
      if (!diagnostics.every((diagnostic) => isInside(diagnostic, text))) fail('a span is outside the text');
      const parsed = language.parse(text);
      if (!isSound(parsed)) fail('a node or token is out of place');
      worstEvaluationMs = Math.max(worstEvaluationMs, evaluationMs(language, parsed, item));
      for (const isRemoved of checkFixes(language, text, diagnostics)) {
        fixesOffered += 1;
        if (isRemoved) fixesThatRemove += 1;
      }
    } catch (error) {
      fail(String(error));
    }
  }
  return {
    ...findWorst(language, suspects),
    worstEvaluationMs,
    fixesOffered,
    fixesThatRemove,
    failures,
  };
}

/** What takes less is not worth a second look. */
const suspectMs = 1;
/** On a busy machine few of them are not interrupted. */
const attemptsMax = 12;

/** A busy machine must not look like a slow parser: what took long is measured again, and the best time counts. */
function timed(language: Language, text: string): { readonly result: Validated; readonly tookMs: number } {
  let tookMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; ; attempt += 1) {
    const started = performance.now();
    const result = language.validate(text);
    tookMs = Math.min(tookMs, performance.now() - started);
    if (tookMs < suspectMs || attempt === attemptsMax - 1) return { result, tookMs };
  }
}

function evaluationMs(language: Language, { root }: Parsed, item: unknown): number {
  if (root === null) return 0;
  let tookMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attemptsMax && tookMs >= suspectMs; attempt += 1) {
    const started = performance.now();
    language.evaluate(root, item);
    language.explain(root, item);
    tookMs = Math.min(tookMs, performance.now() - started);
  }
  return tookMs;
}

/**
 * In turns with plain words, many times, so that both meet the same machine. A time only gets shorter when it is measured
 * again: a text that once took less than the worst takes is not the worst, and is left alone.
 */
function findWorst(
  language: Language,
  suspects: readonly Suspect[],
): Pick<FuzzSummary, 'worstMs' | 'worstInput' | 'worstInPlainTexts'> {
  const slowest = suspects.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, suspectsMax);
  let plainMs = Number.POSITIVE_INFINITY;
  let worst: Suspect = { text: '', tookMs: 0 };
  for (const { text, tookMs: tookFirstMs } of slowest) {
    plainMs = Math.min(plainMs, timed(language, plainWords).tookMs);
    let tookMs = tookFirstMs;
    for (let turn = 0; turn < 5 && tookMs > worst.tookMs; turn += 1) {
      plainMs = Math.min(plainMs, timed(language, plainWords).tookMs);
      tookMs = Math.min(tookMs, timed(language, text).tookMs);
    }
    if (tookMs > worst.tookMs) worst = { text, tookMs };
  }
  return { worstMs: worst.tookMs, worstInput: worst.text, worstInPlainTexts: worst.tookMs / plainMs };
}

function isInside(diagnostic: Diagnostic, text: string): boolean {
  const spans = [diagnostic.span, ...diagnostic.fixes.flatMap((fix) => fix.edits.map(({ span }) => span))];
  return spans.every(([start, end]) => start >= 0 && start <= end && end <= text.length);
}

/** Leaves lie inside the text, tokens too, in order and without overlap. */
function isSound({ text, root, tokens }: Parsed): boolean {
  const leaves = root === null ? [] : leavesOf(root);
  const inside = leaves.every(
    ({ span, valueSpan }) => span[0] <= valueSpan[0] && valueSpan[1] <= span[1] && span[1] <= text.length,
  );
  let end = 0;
  for (const { span } of tokens) {
    if (span[0] < end || span[1] < span[0]) return false;
    end = span[1];
  }
  return inside && end <= text.length;
}

/** Whether each certain fix of one finding removes that finding. One finding per input is tried. */
function checkFixes(language: Language, text: string, diagnostics: readonly Diagnostic[]): boolean[] {
  const diagnostic = diagnostics.find(({ fixes }) => fixes.some(isCertain));
  // A full list is cut off, so a finding that goes makes room for the next one.
  if (diagnostic === undefined || diagnostics.length >= 100) return [];
  const count = (found: readonly Diagnostic[]): number =>
    found.filter(({ code }) => code === diagnostic.code).length;
  const before = count(diagnostics);
  return diagnostic.fixes.filter(isCertain).map((fix) => {
    const after = count(language.validate(applyFix(text, fix)).diagnostics);
    return after < before;
  });
}

function isCertain({ certainty }: Fix): boolean {
  return certainty === 'certain';
}
