import type { Span } from './ast.ts';

export type Severity = 'error' | 'warning' | 'hint';

/** Replace the text at `span` by `text`; several edits of one fix never overlap. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

export interface Fix {
  readonly title: string;
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

/** The text after a fix. */
export function applyFix(text: string, fix: Fix): string {
  let result = text;
  for (const { span, text: inserted } of fix.edits.toSorted((a, b) => b.span[0] - a.span[0])) {
    result = result.slice(0, span[0]) + inserted + result.slice(span[1]);
  }
  return result;
}

const titleLengthMax = 60;

/** A fix of one edit. Titles may quote the rule, so they are cut to a length that fits a button. */
export function replacement(title: string, span: Span, text: string): Fix {
  const short = title.length > titleLengthMax ? `${title.slice(0, titleLengthMax - 1)}…` : title;
  return { title: short, edits: [{ span, text }] };
}
