import { languages } from '@earshot/query';
import type { AssumptionNumber } from '../assumptions.ts';
import type { Answer } from '../http.ts';
import { at, textAt } from '../json.ts';
import { firstWords } from '../redacted.ts';
import { type Bench, type Observation, type Step, seen } from '../step.ts';

/** Parsed queries as Lucene prints them. Some have two forms: with and without clauses that have no effect. */
const compiled: Readonly<Partial<Record<AssumptionNumber, Readonly<Record<string, readonly string[]>>>>> = {
  'F-29': { 'solar wind': ['added:solar added:wind'] },
  'F-30': {
    'title:10-K': ['title:10 title:k'],
    "title:we're": ["title:we're"],
    'added:"UI/UX"': ['added:"ui ux"'],
  },
  'F-31': { 'solar AND the': ['+added:solar', 'added:solar'] },
  'F-35': { 'title:the': ['title:the'] },
  'F-36': {
    'solar OR wind AND hydro': ['added:solar +added:wind +added:hydro', '+added:wind +added:hydro'],
  },
};

/** Queries whose validity is compared with Earshot's own validator. */
const judged: Readonly<Partial<Record<AssumptionNumber, readonly string[]>>> = {
  'F-10': [
    Array.from({ length: 500 }, (_, index) => `w${index}`).join(' OR '),
    `"${'solar '.repeat(667).slice(0, 3_998)}"`,
  ],
  'F-34': [
    'solar AND recent:1d',
    'solar AND (recent:1d OR language:"de")',
    'solar AND recent:1d AND recent:2d',
    'solar AND recent:0d',
  ],
  'F-37': ['nosuchfield:news'],
};

const breathMs = 1_000;

export const f0: Step = {
  id: 'F0',
  about: 'how Firehose parses queries; nothing is created',
  calls: 'POST /v1/validate/public, 16 times',
  usdMax: 0,
  needsNoToken: true,
  async *run(bench) {
    yield await seeShape(bench);
    yield* seeCompiled(bench);
    yield* seeValidity(bench);
  },
};

async function validate({ http, pause }: Bench, value: string): Promise<Answer> {
  await pause(breathMs);
  return http.call('POST', '/v1/validate/public', { body: { value } });
}

/** Accepts both shapes, so that one difference is not reported many times. */
const verdictIn = ({ body }: Answer) => (at(body, 'data') === undefined ? body : at(body, 'data'));

async function seeShape(bench: Bench): Promise<Observation> {
  const [good, bad] = [await validate(bench, 'solar AND wind'), await validate(bench, 'solar AND')];
  const verdict = at(good.body, 'data');
  const isExpected =
    good.status === 200 &&
    at(verdict, 'valid') === true &&
    Array.isArray(at(verdict, 'diagnostics')) &&
    typeof at(verdict, 'compiled') === 'string';
  const words = `valid: ${good.status} ${shapeOf(good.body)}; broken: ${bad.status} ${shapeOf(bad.body)}`;
  return seen('F-13', isExpected, words);
}

/** The names of the fields, two levels deep. */
function shapeOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return typeof body;
  const names = Object.entries(body).map(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? `${name}{${Object.keys(value).join(',')}}`
      : name,
  );
  return firstWords(names.join(','), 200);
}

async function* seeCompiled(bench: Bench): AsyncGenerator<Observation> {
  for (const [number, expected] of Object.entries(compiled)) {
    const words: string[] = [];
    let isAsExpected = true;
    for (const [value, forms] of Object.entries(expected)) {
      const text = textAt(verdictIn(await validate(bench, value)), 'compiled')?.replaceAll(/\s+/g, ' ');
      isAsExpected &&= text !== undefined && forms.includes(text);
      words.push(`${value} → ${text === undefined ? 'nothing' : firstWords(text, 200)}`);
    }
    yield seen(number as AssumptionNumber, isAsExpected, words.join('; '));
  }
}

async function* seeValidity(bench: Bench): AsyncGenerator<Observation> {
  for (const [number, values] of Object.entries(judged)) {
    const words: string[] = [];
    let isAsExpected = true;
    for (const value of values) {
      const isValid = at(verdictIn(await validate(bench, value)), 'valid') === true;
      isAsExpected &&= isValid === (languages.firehose.validate(value).canonical !== null);
      words.push(`${value.slice(0, 40)} ${isValid ? 'valid' : 'not valid'}`);
    }
    yield seen(number as AssumptionNumber, isAsExpected, words.join('; '));
  }
}
