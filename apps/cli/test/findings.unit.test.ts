import { underline } from '@earshot/query';
import { expect, test } from 'vitest';
import { renderFinding } from '../src/output/findings.ts';
import { shellQuoted } from '../src/output/printable.ts';

test('a finding has carets below its position, and fixes to paste', () => {
  const finding = {
    code: 'ambiguous_and',
    message: 'X has no AND.',
    span: { start: 7, end: 10 },
    fixes: [
      {
        title: 'Remove AND',
        certainty: 'certain' as const,
        edits: [{ span: { start: 7, end: 11 }, text: '' }],
      },
    ],
  };
  const text = renderFinding(finding, { option: '--x', value: "rocket AND it's", columns: 80 });
  expect(text).toBe(
    [
      "  --x  rocket AND it's",
      '              ^^^',
      'error: X has no AND. [ambiguous_and]',
      '  Remove AND:',
      "    --x 'rocket it'\\''s'",
    ].join('\n'),
  );
});

test('a finding without position or value has only its message, and empty fixes are omitted', () => {
  const typed = { option: '--x', value: undefined, columns: 80 };
  const fixes = [
    { title: 'Remove it', certainty: 'certain' as const, edits: [{ span: { start: 0, end: 4 }, text: '' }] },
  ];
  expect(renderFinding({ code: 'too_long', message: 'Too long.', fixes }, typed)).toBe(
    '--x: error: Too long. [too_long]',
  );
  const span = { start: 0, end: 4 };
  expect(renderFinding({ code: 'c', message: 'M.', span, fixes }, { ...typed, value: 'cats' })).not.toContain(
    'Remove',
  );
});

test('carets are aligned with wide and invisible characters, and at the end', () => {
  expect(underline('ロケ AND b', [3, 6], 80)).toEqual(['ロケ AND b', '     ^^^']);
  expect(underline('🚀 AND b', [3, 6], 80)).toEqual(['🚀 AND b', '   ^^^']);
  expect(underline('a\n\u200bAND', [3, 6], 80)).toEqual(['a··AND', '   ^^^']);
  expect(underline('a OR', [4, 4], 80)).toEqual(['a OR', '    ^']);
});

test('a long query is cut around the position', () => {
  const value = `${'word '.repeat(200)}AND ${'more '.repeat(200)}`;
  const [line, carets] = underline(value, [1_000, 1_003], 70);
  expect(line.length).toBeLessThanOrEqual(71);
  expect(line).toMatch(/^…/);
  expect(line).toMatch(/…$/);
  expect(line.slice(carets.indexOf('^'), carets.length)).toBe('AND');
});

test('edits are applied from the end, so that offsets stay valid', () => {
  const edits = [
    { span: { start: 0, end: 0 }, text: '(' },
    { span: { start: 13, end: 13 }, text: ')' },
  ];
  const finding = {
    code: 'c',
    message: 'M.',
    fixes: [{ title: 'Group', certainty: 'guess' as const, edits }],
  };
  const typed = { option: '--x', value: 'rust OR cargo -is:retweet', columns: 80 };
  expect(renderFinding(finding, typed)).toContain('Perhaps: Group:');
  expect(renderFinding(finding, typed).split('\n').at(-1)).toBe("    --x '(rust OR cargo) -is:retweet'");
});

test('a shell restores a quoted value', () => {
  expect(shellQuoted('plain-word')).toBe('plain-word');
  expect(shellQuoted("it's")).toBe("'it'\\''s'");
  expect(shellQuoted('a $(b) `c`')).toBe("'a $(b) `c`'");
});
