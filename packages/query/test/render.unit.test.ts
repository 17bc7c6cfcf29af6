import { describe, expect, test } from 'vitest';
import { applyFix, type Diagnostic } from '../src/diagnostics.ts';
import { renderDiagnostic } from '../src/render.ts';

function finding(span: readonly [number, number], fixes: Diagnostic['fixes'] = []): Diagnostic {
  return { severity: 'error', code: 'wrong', message: 'This is wrong.', span, fixes };
}

function carets(text: string, span: readonly [number, number]): string {
  return renderDiagnostic(text, finding(span)).split('\n')[2] ?? '';
}

/** The text over the carets. */
function underlined(rendered: string): string {
  const [, text = '', carets = ''] = rendered.split('\n');
  return text.slice(carets.indexOf('^'), carets.lastIndexOf('^') + 1);
}

describe('a rendered finding', () => {
  test('shows the message, the text, carets under the place and the text after each fix', () => {
    const fixes = [
      {
        certainty: 'certain' as const,
        title: 'Swap',
        edits: [
          { span: [0, 1], text: 'b' },
          { span: [2, 3], text: 'a' },
        ],
      },
    ] as const;
    expect(renderDiagnostic('a b', finding([2, 3], fixes))).toBe(
      ['error[wrong]: This is wrong.', '  a b', '    ^', '  fix: Swap', '    b a'].join('\n'),
    );
  });

  test('an empty place still gets a caret', () => {
    expect(renderDiagnostic('ab', finding([2, 2]))).toContain('\n    ^');
  });

  test('a long rule is cut to a window around the place', () => {
    const text = `${'x '.repeat(300)}here${' y'.repeat(300)}`;
    const rendered = renderDiagnostic(text, finding([600, 604]));
    expect(underlined(rendered)).toBe('here');
    expect(Math.max(...rendered.split('\n').map((line) => line.length))).toBeLessThan(110);
  });

  test('wide characters take two columns, combining marks none, line breaks one', () => {
    expect(carets('氷河 x', [3, 4])).toBe(`  ${' '.repeat(5)}^`);
    expect(carets('e\u0301 x', [3, 4])).toBe(`  ${' '.repeat(2)}^`);
    expect(carets('a\nx', [2, 3])).toBe(`  ${' '.repeat(2)}^`);
  });
});

test('the edits of a fix are applied whatever their order', () => {
  const edits = [
    { span: [0, 1], text: 'long' },
    { span: [2, 3], text: '' },
  ] as const;
  expect(applyFix('a b', { edits })).toBe('long ');
  expect(applyFix('a b', { edits: edits.toReversed() })).toBe('long ');
});
