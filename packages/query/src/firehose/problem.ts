import type { Span } from '../ast.ts';
import type { Diagnostic, Fix } from '../diagnostics.ts';

type Fixes = readonly Fix[];

/** The rule cannot be registered as it is. */
export function error(code: string, message: string, span: Span, fixes: Fixes = []): Diagnostic {
  return { severity: 'error', code, message, span, fixes };
}

/** The rule can be registered but probably does not mean what its author intended. */
export function warning(code: string, message: string, span: Span, fixes: Fixes = []): Diagnostic {
  return { severity: 'warning', code, message, span, fixes };
}

/** The rule is valid; this may improve it. */
export function hint(code: string, message: string, span: Span, fixes: Fixes = []): Diagnostic {
  return { severity: 'hint', code, message, span, fixes };
}

export function replace(title: string, span: Span, text: string): Fix {
  return { title, edits: [{ span, text }] };
}
