import { describe, expect, test } from 'vitest';
import { checkRulesFile } from '../src/rules-file/rules-file.ts';
import { readSourceFile } from '../src/rules-file/source-file.ts';
import { testReport } from '../src/rules-file/test-report.ts';

function check(text: string) {
  return checkRulesFile(readSourceFile('rules.yaml', text));
}

const findingsOf = (text: string) => check(text).findings.map(({ rendered }) => rendered);

const good = `set: launches
rules:
  rockets:
    intent: Know about launches
    overrides:
      x: rocket launch
    examples:
      must_match:
        - platform: x
          payload: { text: A rocket launch }
        - platform: x
          payload: { text: A rocket }
      must_not_match:
        - platform: x
          payload: { text: cake }
`;

describe('checkRulesFile', () => {
  test('returns the rules of a valid file, named by their keys by default', () => {
    expect(check(good)).toMatchObject({
      set: 'launches',
      findings: [],
      rules: [{ key: 'rockets', name: 'rockets', overrides: { x: 'rocket launch' }, expiresAt: null }],
    });
  });

  test('returns the alerts of a rule, and null without them', () => {
    const alerting = good.replace('    overrides:', '    alerts: medium\n    overrides:');
    expect(check(alerting).rules).toMatchObject([{ alerts: 'medium' }]);
    expect(check(good).rules).toMatchObject([{ alerts: null }]);
  });

  test('returns the relevance of a rule with its defaults, and null without one', () => {
    const judged = good.replace('    overrides:', '    relevance: { judge: true }\n    overrides:');
    const defaults = { criteria: [], accept_unproven: false, usd_per_day: null };
    expect(check(judged).rules).toMatchObject([{ relevance: { judge: true, ...defaults } }]);
    expect(check(good).rules).toMatchObject([{ relevance: null }]);
  });

  test('refuses a suspicious query unless the rule sets accept_suspicious', () => {
    const suspicious = good.replace('x: rocket launch', 'x: rocket launch NOT cake');
    const accepted = suspicious.replace('    overrides:', '    accept_suspicious: true\n    overrides:');
    expect(check(suspicious).findings).toMatchObject([{ severity: 'error', code: 'not_is_a_word' }]);
    expect(check(accepted)).toMatchObject({
      rules: [{ acceptSuspicious: true }],
      findings: [{ severity: 'warning', code: 'not_is_a_word' }],
    });
  });

  test('shows the position of a YAML error', () => {
    expect(findingsOf('set: a\nrules: {\n')).toEqual([
      expect.stringMatching(/^rules\.yaml:3:1: error\[yaml\]: .+\n/),
    ]);
    expect(findingsOf('set: a\nset: b\nrules: {}\n')).toEqual([
      'rules.yaml:2:1: error[yaml]: Map keys must be unique\n  set: b\n  ^^^^',
    ]);
  });

  test('shows unknown, missing and invalid fields with their positions', () => {
    const text = `set: a b
rules:
  rockets:
    intnt: Know about launches
    overrides: { X: rocket }
  cakes:
    intent: 5
    overrides: {}
`;
    expect(findingsOf(text)).toEqual([
      expect.stringContaining('rules.yaml:1:6: error[invalid_value]: Must be up to 100 letters'),
      'rules.yaml:4:5: error[unknown_field]: "intnt" is not a field of a rule. Did you mean "intent"?\n      intnt: Know about launches\n      ^^^^^^',
      'rules.yaml:3:3: error[required]: "intent" is required.\n    rockets:\n    ^^^^^^^^',
      expect.stringContaining('rules.yaml:5:18: error[extra_override]: "X" is not a platform.'),
      expect.stringContaining('rules.yaml:7:13: error[wrong_type]: Must be a string.'),
      expect.stringContaining('rules.yaml:8:5: error[required]: Needs a value for at least one of "x"'),
    ]);
  });

  test.each([
    ['plain', 'x: glacier AND lake', '6:18'],
    ['quoted', 'x: "glacier AND lake"', '6:19'],
    ['in a block scalar', 'x: |-\n        glacier AND lake', '7:17'],
    ['moved by escapes', 'x: "gl\\u0061cier AND lake"', '6:10'],
  ])('shows the mistake of a rule that is %s, with a caret and the fix', (_, line, place) => {
    const [first] = findingsOf(`set: a\nrules:\n  lakes:\n    intent: i\n    overrides:\n      ${line}\n`);
    expect(first).toContain(`rules.yaml:${place}: error[ambiguous_and]`);
    expect(first).toContain('\n  glacier AND lake\n          ^^^\n  fix: Remove AND\n    glacier lake');
  });

  test('does not evaluate examples with an invalid query', () => {
    const { findings, examples } = check(good.replace('rocket launch', 'rocket AND launch'));
    expect(findings).toHaveLength(1);
    expect(examples).toEqual([]);
  });

  test('evaluates examples, each with its position and the clause that decided', () => {
    const { examples } = check(good);
    expect(examples.map(({ outcome }) => outcome)).toEqual(['holds', 'fails', 'holds']);
    expect(examples[1]?.finding?.rendered).toBe(
      'rules.yaml:11:11: error[example_failed]: rockets: must_match[1]: Must match, but "launch" decides: the words are not in the post.\n  rocket launch\n         ^^^^^^',
    );
  });

  test('escapes control and invisible characters of an untrusted file', () => {
    const hostile = String.raw`\e[2J\x9b2J\x7f\u202e\u200b\u2066\U000e0041`;
    const inValue = good.replace('x: rocket launch', `x: "rocket${hostile} AND launch"`);
    const inFields = good
      .replace('intent:', `"in${hostile}tent":`)
      .replace('set: launches', `set: "${hostile}"`);
    const inExample = good.replace('x: rocket launch', `x: '"\u202e\u200b\u009b" rocket launch'`);
    const raw = 'set: "\u001b[2J\u009b\u202e"\nset: b\nrules: {}\n';
    for (const text of [inValue, inFields, inExample, raw]) {
      const { findings, examples, ...file } = check(text);
      const shown = [
        ...findings.map(({ rendered }) => rendered),
        testReport('rules.yaml', { findings, examples, ...file }),
      ];
      expect(findings.length + examples.filter(({ finding }) => finding).length).toBeGreaterThan(0);
      expect(shown.join('\n').match(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu)).toBeNull();
    }
  });

  test('shows unprintable characters of a fix as dots, with aligned carets', () => {
    const [first] = findingsOf(good.replace('x: rocket launch', String.raw`x: "a\e[2J AND b"`)).filter(
      (one) => one.includes('Remove AND'),
    );
    expect(first).toContain('\n  a·[2J AND b\n        ^^^\n  fix: Remove AND\n    a·[2J b');
  });

  test('refuses a rule with the key "__proto__"', () => {
    const rule = '  __proto__:\n    intent: i\n    overrides: { x: cake }\n';
    expect(findingsOf(good + rule)).toEqual([
      expect.stringMatching(
        /^rules\.yaml:16:3: error\[invalid_value\]: Must be up to 100 letters.*\n {4}__proto__:\n/,
      ),
    ]);
  });
});
