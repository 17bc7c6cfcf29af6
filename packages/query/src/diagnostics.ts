import type { Span } from './ast.ts';

export type Severity = 'error' | 'suspicious' | 'warning' | 'hint';

/** Replace the text at `span` by `text`; several edits of one fix never overlap. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

export interface Fix {
  readonly title: string;
  /** `certain`: nothing else can have been meant, so a program may apply it. `guess`: the author has to choose. */
  readonly certainty: 'certain' | 'guess';
  readonly edits: readonly Edit[];
}

export interface Diagnostic {
  readonly severity: Severity;
  /** Stable, snake_case, from the language's closed list. */
  readonly code: string;
  /** For people: what is wrong and what to do. */
  readonly message: string;
  readonly span: Span;
  readonly fixes: readonly Fix[];
}

/** The platform refuses the rule, or it can never match. */
export function error(code: string, message: string, span: Span, fixes: readonly Fix[] = []): Diagnostic {
  return { severity: 'error', code, message, span, fixes };
}

/** The platform takes the rule, but it is almost certainly a mistake: registered only with `accept_suspicious`. */
export function suspicious(
  code: string,
  message: string,
  span: Span,
  fixes: readonly Fix[] = [],
): Diagnostic {
  return { severity: 'suspicious', code, message, span, fixes };
}

/** The rule can be registered but may not mean what its author intended. */
export function warning(code: string, message: string, span: Span, fixes: readonly Fix[] = []): Diagnostic {
  return { severity: 'warning', code, message, span, fixes };
}

/** The rule is valid; this may improve it. */
export function hint(code: string, message: string, span: Span): Diagnostic {
  return { severity: 'hint', code, message, span, fixes: [] };
}

/** A fix of one edit. */
export function replace(title: string, span: Span, text: string): Fix {
  return { title, certainty: 'guess', edits: [{ span, text }] };
}

/** The same fix, for a mistake with only one possible meaning. */
export function certain(fix: Fix): Fix {
  return { ...fix, certainty: 'certain' };
}

/** Whether nothing has to be accepted before the rule is registered. */
export function isClear({ severity }: Diagnostic): boolean {
  return severity !== 'error' && severity !== 'suspicious';
}

/** The same with a title that quotes the rule, so that its length is limited. */
export function replacement(title: string, span: Span, text: string): Fix {
  return replace(
    title.length > titleLengthMax ? `${title.slice(0, titleLengthMax - 1)}…` : title,
    span,
    text,
  );
}

/** The text after a fix. */
export function applyFix(text: string, fix: Pick<Fix, 'edits'>): string {
  let result = text;
  for (const { span, text: inserted } of fix.edits.toSorted((a, b) => b.span[0] - a.span[0])) {
    result = result.slice(0, span[0]) + inserted + result.slice(span[1]);
  }
  return result;
}

const titleLengthMax = 60;

const diagnosticsMax = 100;

const ranks: Readonly<Record<Severity, number>> = { error: 0, suspicious: 1, warning: 2, hint: 2 };

/** In text order. Beyond the limit errors are kept first, then suspicious findings: an invalid rule must not look valid. */
export function inTextOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length < 2) return diagnostics;
  const rank = ({ severity }: Diagnostic): number => ranks[severity];
  const kept =
    diagnostics.length <= diagnosticsMax
      ? diagnostics
      : diagnostics.toSorted((a, b) => rank(a) - rank(b)).slice(0, diagnosticsMax);
  return kept.toSorted((a, b) => a.span[0] - b.span[0]);
}
