import { languages } from '@earshot/query';
import type { AssumptionNumber } from '../assumptions.ts';
import { listAt, textAt } from '../json.ts';
import { type Bench, notSeen, type Observation, type Step, seen } from '../step.ts';
import { problemWords, tryRules } from './rules.ts';

/** Queries whose validity on X is compared with Earshot's own validator. */
const probes: Readonly<Partial<Record<AssumptionNumber, readonly string[]>>> = {
  'X-12': [
    'url_title:ice',
    'url_description:ice',
    'url_contains:ice',
    'min_followers:10',
    'followers_count:10',
    'tweets_count:10',
    'following_count:10',
    'listed_count:10',
    'in_reply_to_tweet_id:20',
    'retweets_of_tweet_id:20',
    'source:"X for iPhone"',
  ],
  'X-16': ['the', 'you', 'a', 'via', 'rt'],
  'X-27': ['glacier NOT lake'],
  'X-28': ['()', '(glacier', 'glacier)'],
  'X-29': ['glacier -(lake OR ice)'],
  'X-30': ['glacier OR has:media'],
  'X-31': ['FROM:xdevelopers', 'glacier Lang:en'],
  'X-32': ['from: xdevelopers'],
  'X-33': ["'blue ice'", '“blue ice”'],
  'X-34': ['#1989', '$0293.HK'],
  'X-35': [' '],
  'X-36': ['glacier\tlake', 'glacier\nlake'],
  'X-40': ['followers_count:1000..500 glacier'],
  'X-41': ['from:acme_sky,acme_ice'],
  'X-42': ['from:@acme_sky'],
};

export const x2: Step = {
  id: 'X2',
  about: 'which rules X accepts; nothing is created',
  calls: 'POST rules?dry_run=true, about ten times',
  usdMax: 0,
  async *run(bench) {
    yield* await seeLanguage(bench);
    yield* await seeLength(bench);
    yield await seeBatchSize(bench);
    yield await seeTagLength(bench);
  },
};

async function seeLanguage(bench: Bench): Promise<Observation[]> {
  const values = Object.values(probes).flat();
  // A blank query may invalidate its whole request.
  const taken = new Map([
    ...(await verdicts(
      bench,
      values.filter((value) => value.trim() !== ''),
    )),
    ...(await verdicts(
      bench,
      values.filter((value) => value.trim() === ''),
    )),
  ]);
  const tier = bench.isEnterprise ? 'enterprise' : 'standard';
  return Object.entries(probes).map(([number, ofNumber]) => {
    const wrong = ofNumber.filter(
      (value) => taken.get(value) !== (languages.x.validate(value, { tier }).canonical !== null),
    );
    const words = (list: readonly string[]) =>
      list.map((value) => `${JSON.stringify(value)} ${taken.get(value) === true ? 'taken' : 'refused'}`);
    const shown = words(wrong.length > 0 ? wrong : ofNumber);
    return seen(number as AssumptionNumber, wrong.length === 0, shown.join(', '));
  });
}

/** Whether X accepts each query. If X refuses a whole request, each half is sent separately. */
async function verdicts(bench: Bench, values: readonly string[]): Promise<ReadonlyArray<[string, boolean]>> {
  if (values.length === 0) return [];
  const answer = await tryRules(
    bench,
    values.map((value) => ({ value })),
  );
  const isJudged = answer.status === 200 || answer.status === 201;
  if (!isJudged && values.length > 1) {
    const half = Math.ceil(values.length / 2);
    return [
      ...(await verdicts(bench, values.slice(0, half))),
      ...(await verdicts(bench, values.slice(half))),
    ];
  }
  const refused = new Set(
    listAt(answer.body, 'errors')
      .filter((error) => !textAt(error, 'type')?.endsWith('/duplicate-rules'))
      .map((error) => spaced(textAt(error, 'value') ?? '')),
  );
  return values.map((value) => [value, isJudged && !refused.has(spaced(value))]);
}

/** X may change white space. */
const spaced = (value: string) => value.replaceAll(/\s+/g, ' ').trim();

/** Repeats the word and adds letters, up to exactly this many UTF-16 units. */
function ofLength(word: string, units: number): string {
  const count = Math.floor((units - 1) / (word.length + 1));
  return `${word} `.repeat(count) + 'a'.repeat(units - count * (word.length + 1));
}

async function seeLength(bench: Bench): Promise<Observation[]> {
  const max = bench.isEnterprise ? 2_048 : 1_024;
  const samples = [
    { name: `${max} of ASCII`, value: ofLength('glacier', max), isTaken: true },
    { name: `${max + 1} of ASCII`, value: ofLength('glacier', max + 1), isTaken: false },
    { name: `${max} of CJK`, value: ofLength('犬犬犬犬犬犬犬', max), isTaken: true },
    // Each has two units but one code point, so the value fits only if X counts code points.
    { name: `${max + 2} of emoji`, value: ofLength('🚀', max + 2), isTaken: false },
  ];
  const seenValues: string[] = [];
  let isAsExpected = true;
  let problem: Observation | undefined;
  for (const { name, value, isTaken } of samples) {
    const answer = await tryRules(bench, [{ value }]);
    const errors = listAt(answer.body, 'errors');
    const wasTaken = answer.status < 300 && errors.length === 0;
    isAsExpected &&= wasTaken === isTaken;
    seenValues.push(`${name} ${wasTaken ? 'taken' : 'refused'}`);
    if (!wasTaken && problem === undefined) {
      const isInEntry = textAt(errors[0], 'value') !== undefined;
      const isKnown = isInEntry && textAt(errors[0], 'type')?.endsWith('/invalid-rules') === true;
      problem = seen('X-20', isKnown, `${problemWords(answer)}${isInEntry ? ' in errors[]' : ''}`);
    }
  }
  return [
    seen('X-5', isAsExpected, seenValues.join(', ')),
    problem ?? notSeen('X-20', 'no rule was too long'),
  ];
}

const batchSize = 100;

async function seeBatchSize(bench: Bench): Promise<Observation> {
  const add = Array.from({ length: batchSize }, (_, index) => ({ value: `${bench.word}${index}` }));
  const answer = await tryRules(bench, add);
  const words = problemWords(answer);
  if (words.includes('rule-cap')) return notSeen('X-3', 'the app has no room for that many');
  const isTaken = answer.status < 300 && listAt(answer.body, 'errors').length === 0;
  return seen('X-3', isTaken, isTaken ? `${batchSize} taken` : words);
}

async function seeTagLength(bench: Bench): Promise<Observation> {
  const taken: Record<number, boolean> = {};
  for (const length of [255, 256]) {
    const tag = bench.nextTag().padEnd(length, 't');
    const answer = await tryRules(bench, [{ value: bench.word, tag }]);
    taken[length] = answer.status < 300 && listAt(answer.body, 'errors').length === 0;
  }
  const words = Object.entries(taken).map(
    ([length, isTaken]) => `${length} ${isTaken ? 'taken' : 'refused'}`,
  );
  return seen('X-4', taken[255] === true, words.join(', '));
}
