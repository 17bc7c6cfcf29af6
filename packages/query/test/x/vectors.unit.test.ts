import { describe, expect, test } from 'vitest';
import { leavesOf } from '../../src/explain.ts';
import { xLanguage } from '../../src/x/language.ts';

const { validate, parse } = xLanguage;

/** What X accepts (x.md §10.1), with the canonical text and the codes of the diagnostics. */
const accepted: readonly (readonly [rule: string, canonical: string, lint: string])[] = [
  ['glacier', 'glacier', 'broad_rule'],
  ['glacier lake', 'glacier lake', ''],
  ['glacier OR lake ice', 'glacier OR ice lake', 'broad_rule or_precedence'],
  ['(glacier OR lake) ice -is:retweet', '(glacier OR lake) ice -is:retweet', ''],
  ['glacier OR lake -is:retweet', 'glacier OR lake -is:retweet', 'broad_rule or_precedence'],
  ['"blue ice"~3', '"blue ice"~3', ''],
  ['glacier -(lake OR ice)', 'glacier -ice -lake', 'broad_rule negated_group'],
  ['glacier "and" lake', '"and" glacier lake', ''],
  ['glacier or lake', '"or" glacier lake', 'lowercase_or'],
  ['(glacier OR lake) sample:10', '(glacier OR lake) sample:10', ''],
  ['bounding_box:[-22.1 64.0 -21.7 64.2]', 'bounding_box:[-22.1 64 -21.7 64.2]', ''],
  ['context:47.* glacier', 'context:47.* glacier', ''],
  ['context:*.10045225402', 'context:*.10045225402', ''],
  ['context:47.10045225402', 'context:47.10045225402', ''],
  ['x'.repeat(1024), 'x'.repeat(1024), 'broad_rule'],
];

const refused: readonly (readonly [rule: string, code: string])[] = [
  ['"blue ice"~7', 'bad_proximity'],
  ['has:media', 'needs_standalone'],
  ['has:media lang:is', 'needs_standalone'],
  ['has:links OR is:retweet', 'needs_standalone'],
  ['-glacier', 'only_negations'],
  ['--glacier', 'only_negations'],
  ['glacier OR -lake', 'negated_or_branch'],
  ['glacier -(lake ice)', 'illegal_negated_group'],
  ['glacier AND lake', 'ambiguous_and'],
  ['glacier and lake', 'ambiguous_and'],
  ['is:nullcast glacier', 'must_be_negated'],
  ['glacier -sample:10', 'not_negatable'],
  ['glacier OR lake sample:10', 'sample_needs_group'],
  ['glacier sample:0', 'bad_number'],
  ['glacier sample:101', 'bad_number'],
  ['glacier sample:1.5', 'bad_number'],
  ['-embedding:"melting ice sheets"', 'not_negatable'],
  ['embedding_threshold:0.4', 'needs_standalone'],
  ['embedding:"melting ice sheets" embedding_threshold:0.4', 'unavailable_operator'],
  ['bounding_box:[-22.1,64.0,-21.7,64.2]', 'bad_area'],
  ['point_radius:[-21.9 64.1 30mi]', 'bad_area'],
  ['followers_count:1000..500 glacier', 'bad_number'],
  ['from:acme_sky,acme_ice', 'one_value'],
  ['from:@acme_sky', 'bad_handle'],
  ['coca-cola', 'unquoted_punctuation'],
  ["'blue ice'", 'single_quotes'],
  ['(glacier', 'unclosed_parenthesis'],
  ['glacier)', 'unmatched_parenthesis'],
  ['()', 'empty_group'],
  ['lang:en lang:de glacier', 'language_conflict'],
  ['lang:xx glacier', 'unknown_language'],
  ['contains:glac', 'unsupported_operator'],
  ['x'.repeat(1025), 'too_long'],
  ['   ', 'empty_rule'],
  ['', 'empty_rule'],
];

describe('the rule vectors of the X reference', () => {
  test.each(accepted)('%s is accepted', (rule, canonical, lint) => {
    const result = validate(rule);
    expect(result).toMatchObject({ canonical });
    expect(result.diagnostics.map(({ code }) => code)).toEqual(lint === '' ? [] : lint.split(' '));
  });

  test.each(refused)('%s is refused as %s', (rule, code) => {
    const result = validate(rule);
    expect(result).toMatchObject({ valid: false, canonical: null });
    expect(
      result.diagnostics.filter(({ severity }) => severity === 'error').map((found) => found.code),
    ).toContain(code);
  });

  test('a misplaced filter is reported only once', () => {
    const codes = validate('"blue ice" OR "north cape" sample:10').diagnostics.map(({ code }) => code);
    expect(codes).toEqual(['sample_needs_group']);
  });

  test('a rule that needs the embedding tier is accepted on it, and 2,048 characters on Enterprise', () => {
    const rule = 'embedding:"melting ice sheets" embedding_threshold:0.4';
    expect(validate(rule, { tier: 'embedding' })).toMatchObject({ valid: true, canonical: rule });
    expect(validate('x'.repeat(2048), { tier: 'enterprise' }).valid).toBe(true);
    expect(validate('x'.repeat(2049), { tier: 'enterprise' }).valid).toBe(false);
  });
});

describe('the X parser', () => {
  test('a space binds tighter than OR', () => {
    const { root } = parse('glacier OR lake ice');
    expect(root).toMatchObject({
      kind: 'or',
      children: [{ kind: 'leaf' }, { kind: 'and', children: [{}, {}] }],
    });
  });

  test('every node has its span in the text', () => {
    const text = 'glacier (lake OR -"blue ice"~3) from:Acme_Sky';
    const { root } = parse(text);
    const spans =
      root === null
        ? []
        : leavesOf(root).map(({ span, valueSpan }) => [text.slice(...span), text.slice(...valueSpan)]);
    expect(spans).toEqual([
      ['glacier', 'glacier'],
      ['lake', 'lake'],
      ['"blue ice"~3', 'blue ice'],
      ['from:Acme_Sky', 'Acme_Sky'],
    ]);
  });

  test('all errors of a rule are found at once', () => {
    const codes = validate('(glacier OR ) AND from: @acme “ice').diagnostics.map(({ code }) => code);
    expect(codes).toEqual([
      'or_without_operand',
      'ambiguous_and',
      'space_after_colon',
      'bad_handle',
      'curly_quotes',
    ]);
  });

  test('tokens cover the clauses in text order', () => {
    const text = '(a OR -from:b) #c "d e"';
    expect(parse(text).tokens.map(({ kind, span }) => [kind, text.slice(...span)])).toEqual([
      ['bracket', '('],
      ['word', 'a'],
      ['operator', 'OR'],
      ['negation', '-'],
      ['field', 'from:'],
      ['value', 'b'],
      ['bracket', ')'],
      ['value', '#c'],
      ['phrase', '"d e"'],
    ]);
  });

  test('nesting stops at 32 levels, with one finding and the rest of the rule kept', () => {
    expect(parse(nested(32)).diagnostics).toEqual([]);
    const { diagnostics, root } = parse(nested(33));
    expect(diagnostics.map(({ code }) => code)).toEqual(['too_deep']);
    expect(root).toMatchObject({ kind: 'leaf', test: { value: 'lake' } });
  });

  test('a text far above every limit is refused without being parsed', () => {
    expect(parse('a '.repeat(3000))).toMatchObject({ root: null, diagnostics: [{ code: 'too_long' }] });
  });
});

function nested(depth: number): string {
  return `${'('.repeat(depth)}ice${')'.repeat(depth)} lake`;
}
