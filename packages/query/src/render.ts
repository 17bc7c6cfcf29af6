import type { Diagnostic } from './diagnostics.ts';
import { applyFix } from './diagnostics.ts';

const windowChars = 100;

/**
 * A diagnostic for a terminal or a log: the message, the rule with carets under the span, and the rule after each
 * fix. Long rules are cut to a window around the span.
 */
export function renderDiagnostic(text: string, diagnostic: Diagnostic): string {
  const [start, end] = diagnostic.span;
  const from = text.length <= windowChars ? 0 : Math.max(0, Math.min(start - 30, text.length - windowChars));
  const to = Math.min(text.length, from + windowChars);
  const before = from > 0 ? '…' : '';
  const after = to < text.length ? '…' : '';
  const shown = before + oneLine(text.slice(from, to)) + after;
  const indent = before.length + columns(text.slice(from, start));
  const width = Math.max(1, columns(text.slice(start, Math.min(end, to))));
  const lines = [
    `${diagnostic.severity}[${diagnostic.code}]: ${diagnostic.message}`,
    `  ${shown}`,
    `  ${' '.repeat(indent)}${'^'.repeat(width)}`,
  ];
  for (const fix of diagnostic.fixes) {
    lines.push(`  fix: ${fix.title}`);
    lines.push(`    ${oneLine(applyFix(text, fix))}`);
  }
  return lines.join('\n');
}

export function renderDiagnostics(text: string, diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((diagnostic) => renderDiagnostic(text, diagnostic)).join('\n');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\t\v\f]/g, ' ');
}

/** Terminal cells, approximately: combining marks take none, wide East Asian characters and emoji take two. */
function columns(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) continue;
    width +=
      /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFF60]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
