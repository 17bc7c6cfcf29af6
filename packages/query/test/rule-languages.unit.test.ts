import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeExamples, languages, type Platform } from '../src/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/rule-languages.md'), 'utf8');
const [, x = '', firehose = '', bluesky = ''] = page.split(/^## .*$/m);
const sections: Readonly<Record<Platform, string>> = { x, firehose, bluesky };

describe.each(Object.values(languages))(
  'docs/rule-languages.md: $platform',
  ({ platform, guide, validate }) => {
    const section = sections[platform];
    const { operators, pitfalls } = guide();
    const lists = section.split('\n').filter((line) => /^(\* | {2})/.test(line));
    const listed = lists.flatMap((line) => Array.from(line.matchAll(/`([^`]+)`/g), ([, code = '']) => code));
    const rows = Array.from(section.matchAll(/^\| `(.+?)` \| (.+?) \| (.+?) \|$/gm), ([, ...cells]) => cells);
    const [examples, mistakes] = [false, true].map((isMistake) =>
      rows.filter(([, second = '']) => second.startsWith('`') === isMistake),
    );

    test('lists every operator, and no other', () => {
      const known = new Set(operators.flatMap(({ form }) => namesIn(form)));
      expect(known.size).toBeGreaterThan(12);
      expect(new Set(listed.flatMap(namesIn))).toEqual(known);
    });

    test('has examples with the stated verdicts', () => {
      expect(examples?.length).toBeGreaterThan(3);
      for (const [query = '', match = '', notMatch = ''] of examples ?? []) {
        const item = (text: string) => [{ platform, payload: { text } }];
        const outcomes = judgeExamples(
          { [platform]: query },
          { must_match: item(match), must_not_match: item(notMatch) },
        );
        expect([query, validate(query).valid, outcomes.map(({ outcome }) => outcome)]).toEqual([
          query,
          true,
          ['holds', 'holds'],
        ]);
      }
    });

    test('has mistakes of the guide', () => {
      expect(mistakes?.length).toBeGreaterThan(3);
      const known = pitfalls.map(({ wrong, right }) => [wrong, `\`${right}\``]);
      for (const [wrong, right] of mistakes ?? []) expect(known).toContainEqual([wrong, right]);
    });
  },
);

test('docs/rule-languages.md lists the operators of X that cannot stand alone as filters', () => {
  const { operators } = languages.x.guide();
  const [, filters = ''] = x.split('These filters');
  const [lists = ''] = filters.split('\n| ');
  const named = Array.from(lists.matchAll(/`([^`]+)`/g), ([, code = '']) => code);
  const dependent = operators.filter(({ standalone }) => !standalone).flatMap(({ form }) => namesIn(form));
  // Named to say that these are branches of it.
  expect(new Set(named.flatMap(namesIn).filter((name) => name !== 'OR'))).toEqual(new Set(dependent));
});

/** The names of operators: `from:` of `from:user`, the whole of `has:links`, and forms without a colon. */
function namesIn(form: string): string[] {
  const [, named] = /^-?((?:is|has):\w+|[a-z_]+:)/.exec(form) ?? [];
  return named === undefined ? form.split(/ {2}|; also .*/).filter((one) => one !== '') : [named];
}
