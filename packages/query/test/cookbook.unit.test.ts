import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ExamplePayload } from '../src/example-payload.ts';
import { isStopWord } from '../src/firehose/tokenize.ts';
import { judgeExamples, languages, leavesOf, type RuleExamples, renderDiagnostics } from '../src/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/cookbook.md'), 'utf8');

type Platform = 'x' | 'firehose';

interface Job {
  readonly title: string;
  readonly queries: Readonly<Record<Platform, string>>;
  /** Whether Firehose's quality filter is on. */
  readonly quality: boolean;
  readonly examples: RuleExamples;
}

const notJobs = ['What queries cannot express'];

/** The parts of a job, in the order of the page. */
const parts = [
  ['a purpose of one sentence', /^[A-Z](?!.*\. )[^\n]*\.\n\n/],
  ['a query for X', /^X:\n\n```x\n([^\n]+)\n```\n\n/],
  ['a query for Firehose', /^Firehose:\n\n```firehose\n([^\n]+)\n```\n\n/],
  ['examples', /^```yaml\n((?:options: \{ firehose: \{ quality: false \} \}\n)?)examples:\n/],
  ['examples that must match', /^ {2}must_match:\n((?: {4}[^\n]+\n)+)/],
  ['examples that must not match', /^ {2}must_not_match:\n((?: {4}[^\n]+\n)+)```\n\n/],
  ['one line about tuning', /^\*\*Tune:\*\* [^\n]+\.\n*$/],
] as const;

/** Every section must be a complete job, or one of `notJobs`. */
function readJobs(text: string): Job[] {
  const sections = text.split(/^## /m).slice(1);
  return sections
    .map((section) => ({ title: section.slice(0, section.indexOf('\n')), section }))
    .filter(({ title }) => !notJobs.includes(title))
    .map(({ title, section }) => readJob(title, section.slice(title.length).trimStart()));
}

function readJob(title: string, body: string): Job {
  const values = cutIntoParts(title, body).map(([, value = '']) => value);
  const [, x = '', firehose = '', options = '', match = '', notMatch = ''] = values;
  return {
    title,
    queries: { x, firehose },
    quality: options === '',
    examples: { must_match: readItems(title, match), must_not_match: readItems(title, notMatch) },
  };
}

function cutIntoParts(title: string, body: string): RegExpExecArray[] {
  let rest = body;
  return parts.map(([name, pattern]) => {
    const found = pattern.exec(rest);
    if (found === null) throw new Error(`The job "${title}" lacks ${name}, at: ${rest.slice(0, 60)}`);
    rest = rest.slice(found[0].length);
    return found;
  });
}

function readItems(title: string, text: string) {
  const pattern = /^ {4}- platform: (x|firehose)\n {6}payload: (\{ .+ \})\n/;
  const items: { platform: Platform; payload: ExamplePayload }[] = [];
  for (let rest = text; rest !== ''; ) {
    const [all = '', platform, payload = ''] = pattern.exec(rest) ?? [];
    if (platform !== 'x' && platform !== 'firehose')
      throw new Error(`The job "${title}" has an item in an unknown form: ${rest.slice(0, 60)}`);
    // The keys of a YAML flow mapping are the only words outside quotes, so that with quotes it is JSON.
    const json = payload.replace(
      /("(?:[^"\\]|\\.)*")|([a-z_]+):/g,
      (_all, value, key) => value ?? `"${key}":`,
    );
    items.push({ platform, payload: JSON.parse(json) });
    rest = rest.slice(all.length);
  }
  const platforms = new Set(items.map(({ platform }) => platform));
  if (items.length < 2 || items.length > 3 || platforms.size < 2)
    throw new Error(`The job "${title}" lacks items: two or three are needed, of both platforms`);
  return items;
}

/** The findings in the queries, and the items with another verdict than the page says. */
function problemsOf({ queries, examples, quality }: Job): string[] {
  const findings = (['x', 'firehose'] as const).map((platform) => {
    const { diagnostics } = languages[platform].validate(queries[platform]);
    // The job follows the advice.
    const left = diagnostics.filter(({ code }) => quality || code !== 'quality_filter');
    return renderDiagnostics(queries[platform], left);
  });
  const failures = judgeExamples(queries, examples)
    .filter(({ outcome }) => outcome !== 'holds')
    .map(({ expectation, platform, index, message }) => `${expectation} ${index} on ${platform}: ${message}`);
  return [...findings.filter((found) => found !== ''), ...failures];
}

describe('the cookbook', () => {
  const jobs = readJobs(page);

  test('has at least 12 jobs with different titles', () => {
    expect(new Set(jobs.map(({ title }) => title)).size).toBe(jobs.length);
    expect(jobs.length).toBeGreaterThanOrEqual(12);
  });

  test.each(jobs)('$title: queries without findings, and items with the stated verdict', (job) => {
    expect(problemsOf(job)).toEqual([]);
  });

  test.each(jobs)(
    '$title: every item has the opposite verdict in the other list',
    ({ queries, examples }) => {
      const swapped = { must_match: examples.must_not_match, must_not_match: examples.must_match };
      const outcomes = judgeExamples(queries, swapped).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(outcomes.map(() => 'fails'));
    },
  );

  test.each(jobs)('$title: Firehose phrases keep two words without stop words', ({ queries }) => {
    expect(shrunkPhrases(queries.firehose)).toEqual([]);
  });

  test.each(jobs)('$title: the quality filter is off if and only if it follows a site', (job) => {
    const { root } = languages.firehose.validate(job.queries.firehose);
    const clauses = root?.kind === 'and' ? root.children : [];
    const followsSite = clauses.some((clause) => clause.kind === 'leaf' && clause.field === 'domain');
    expect(job.quality).toBe(!followsSite);
  });
});

/** Firehose drops stop words from phrases, so that `"is down"` finds every page with "down". */
function shrunkPhrases(query: string): string[] {
  const { root } = languages.firehose.validate(query);
  const leaves = root === null ? [] : leavesOf(root);
  return leaves.flatMap(({ field, test }) => {
    if (test.type !== 'phrase' || field === 'title' || test.words.length < 2) return [];
    return test.words.filter((word) => !isStopWord(word)).length < 2 ? [test.words.join(' ')] : [];
  });
}

describe('the test of the cookbook', () => {
  const jobs = readJobs(page);
  const [first] = jobs;
  if (first === undefined) throw new Error('no job');

  test.each([
    ['an X query with AND', { x: `${first.queries.x} AND app` }, 'ambiguous_and'],
    ['an X query that filters one branch', { x: 'northwind OR contoso lang:en' }, 'or_precedence'],
    ['a broad X query', { x: 'northwind' }, 'broad_rule'],
    ['a Firehose query with a space', { firehose: '"northwind traders" app' }, 'implicit_operator'],
    ['a Firehose query with mixed operators', { firehose: 'northwind OR app AND support' }, 'dead_clause'],
    ['another X query', { x: '"contoso cloud" outage' }, 'must_match 0 on x'],
    ['another Firehose query', { firehose: '"contoso cloud" AND outage' }, 'must_match 2 on firehose'],
    ['an X query that is too wide', { x: 'northwind -is:retweet' }, 'must_not_match 0 on x'],
    [
      'a Firehose query that is too wide',
      { firehose: '"northwind traders"' },
      'must_not_match 2 on firehose',
    ],
    ['a clause that the items do not decide', { x: `${first.queries.x} sample:10` }, 'Not decided'],
  ])('fails for %s', (_what, change, problem) => {
    const problems = problemsOf({ ...first, queries: { ...first.queries, ...change } });
    expect(problems.join('\n')).toContain(problem);
  });

  test('finds phrases that shrink to one word', () => {
    expect(shrunkPhrases('"is down" OR "not available" OR title:"is down" OR "heat pump" OR "no"')).toEqual([
      'is down',
      'not available',
    ]);
  });

  test.each(parts.map(([name]) => name))('refuses a page in which a job lacks %s', (name) => {
    const [, section = ''] = page.split(/^## /m);
    const pieces = cutIntoParts('Whole', section.slice(section.indexOf('\n')).trimStart());
    const others = pieces.filter((_piece, index) => parts[index]?.[0] !== name);
    expect(readJobs(`## Whole\n\n${pieces.map(([piece]) => piece).join('')}`)).toHaveLength(1);
    expect(others).toHaveLength(parts.length - 1);
    expect(() => readJobs(`## Broken\n\n${others.map(([piece]) => piece).join('')}`)).toThrow(
      `The job "Broken" lacks ${name}`,
    );
  });

  test('refuses an item in another form, a missing platform, and text after a job', () => {
    const change = (from: string, to: string) => () => readJobs(page.replace(from, to));
    expect(change('    - platform: x\n', '    - platform: y\n')).toThrow('an item in an unknown form');
    expect(change('payload: { text: "Northwind', 'payload: { text: Northwind')).toThrow('Unexpected token');
    expect(change(/ {4}- platform: firehose\n.*\n/.exec(page)?.[0] ?? '', '')).toThrow('lacks items');
    expect(change('to X it is two.\n', 'to X it is two.\n\nMore.\n')).toThrow('one line about tuning');
  });

  test('the examples of the guides are jobs of this page', () => {
    for (const platform of ['x', 'firehose'] as const)
      for (const { intent, value } of languages[platform].guide().examples)
        expect(jobs.find(({ title }) => title === intent)?.queries[platform]).toBe(value);
  });
});
