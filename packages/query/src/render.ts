import { applyFix, type Diagnostic } from './diagnostics.ts';
import { underline } from './underline.ts';

const columns = 100;

/**
 * A diagnostic for a terminal or a log: the message, the rule with carets under the span, and the rule after each
 * fix. Long rules are cut to a window around the span.
 */
export function renderDiagnostic(text: string, diagnostic: Diagnostic): string {
  const lines = [`${diagnostic.severity}[${diagnostic.code}]: ${diagnostic.message}`];
  for (const line of underline(text, diagnostic.span, columns)) lines.push(`  ${line}`);
  for (const fix of diagnostic.fixes) {
    lines.push(`  ${fix.certainty === 'certain' ? 'fix' : 'perhaps'}: ${fix.title}`);
    lines.push(`    ${applyFix(text, fix).replaceAll(/[\r\n\t\v\f]/g, ' ')}`);
  }
  return lines.join('\n');
}

export function renderDiagnostics(text: string, diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((diagnostic) => renderDiagnostic(text, diagnostic)).join('\n');
}
