import { parseJson, type Stream } from '../http.ts';
import { at, listAt, numberAt, textAt } from '../json.ts';
import { type Bench, notSeen, type Observation, type Step, seen } from '../step.ts';
import { addedRules, addRules, deleteRules, problemWords, ruleDelayMs } from './rules.ts';
import { streamPath } from './stream.ts';

const postsWanted = 10;
/** Posts in transit when the stream is closed are billed too. */
const postsLate = 10;
const listenMs = 10 * 60_000;
export const postUsd = 0.005;
/** A post, its author, and at most two posts that it refers to. */
const usdPerPost = postUsd + 0.01 + 2 * postUsd;
/** X updates the usage with a delay. */
const usageTries = 10;
const usageBreathMs = 30_000;

export const x5: Step = {
  id: 'X5',
  about: `${postsWanted} posts with their authors and the posts that they refer to`,
  calls: 'POST rules twice, GET stream once, GET /2/usage/tweets up to eleven times',
  usdMax: (postsWanted + postsLate) * usdPerPost,
  makesRules: true,
  opensStream: true,
  async *run(bench) {
    const before = await usageOf(bench);
    const tag = bench.nextTag();
    const added = await addRules(bench, [{ value: bench.busyRule, tag }]);
    const rule = addedRules(added)[0];
    if (rule === undefined) throw new Error(`The rule was not added: ${problemWords(added)}`);
    await bench.pause(ruleDelayMs);
    const stream = await bench.http.open(
      `${streamPath}?tweet.fields=entities,referenced_tweets&expansions=author_id,referenced_tweets.id`,
    );
    if (stream.status !== 200) throw new Error(`The stream did not open: ${problemWords(stream)}`);
    await stream.waitFor(() => recordsOf(stream).length >= postsWanted, bench.realMs(listenMs));
    stream.close();
    await deleteRules(bench, [rule.id]);
    bench.throwIfStopped();
    const records = recordsOf(stream);
    yield seeMatchingRules(records, rule.id, tag);
    yield seeEntities(records);
    yield await seeBilling(bench, records, before);
  },
};

function recordsOf(stream: Stream): unknown[] {
  const lines = stream.text().split('\n').slice(0, -1);
  return lines.map((line) => parseJson(line)).filter((record) => at(record, 'data') !== undefined);
}

async function usageOf({ http, throwIfStopped }: Bench): Promise<number | undefined> {
  throwIfStopped();
  return numberAt((await http.call('GET', '/2/usage/tweets?days=1')).body, 'data', 'project_usage');
}

const idsOf = (list: readonly unknown[]) => list.flatMap((one) => textAt(one, 'id') ?? []);

async function seeBilling(
  bench: Bench,
  records: readonly unknown[],
  before: number | undefined,
): Promise<Observation> {
  const posts = new Set(idsOf(records.map((record) => at(record, 'data'))));
  const referred = ['tweets', 'posts'].flatMap((name) =>
    records.flatMap((record) => idsOf(listAt(record, 'includes', name))),
  );
  const withReferred = new Set([...posts, ...referred]).size;
  if (withReferred === posts.size) return notSeen('X-13', 'no post referred to another: try another rule');
  if (before === undefined) return notSeen('X-13', 'X did not report the usage');
  for (let left = usageTries; left > 0; left -= 1) {
    const counted = ((await usageOf(bench)) ?? before) - before;
    if (counted > withReferred + 3 * postsLate) return notSeen('X-13', 'others use the same project');
    if (counted >= withReferred) return seen('X-13', true, 'counted');
    // If only the posts themselves count, the number stays near theirs.
    if (left === 1 && counted >= posts.size && counted < (posts.size + withReferred) / 2)
      return seen('X-13', false, 'not counted');
    await bench.pause(usageBreathMs);
  }
  return notSeen('X-13', 'X did not update the usage in time');
}

function seeMatchingRules(records: readonly unknown[], id: string, tag: string): Observation {
  if (records.length === 0) return notSeen('X-55', 'no post came');
  const isNamed = records.every((record) =>
    listAt(record, 'matching_rules').some((rule) => textAt(rule, 'id') === id && textAt(rule, 'tag') === tag),
  );
  return seen('X-55', isNamed, isNamed ? 'id and tag' : 'another id or tag');
}

/** Only entities behind a character of two UTF-16 units distinguish the units. */
function seeEntities(records: readonly unknown[]): Observation {
  const places = records.flatMap((record) => {
    const text = textAt(record, 'data', 'text') ?? '';
    const entities = [
      ...listAt(record, 'data', 'entities', 'hashtags'),
      ...listAt(record, 'data', 'entities', 'urls'),
    ];
    return entities.flatMap((entity) => {
      const start = numberAt(entity, 'start') ?? 0;
      const isDecisive = Array.from(text).slice(0, start).join('').length !== start;
      return isDecisive ? [/^[#h]/.test(Array.from(text).slice(start).join(''))] : [];
    });
  });
  if (places.length === 0) return notSeen('X-22', 'no entity stood behind an emoji');
  const isCodePoints = places.every(Boolean);
  return seen('X-22', isCodePoints, isCodePoints ? 'code points' : 'another unit');
}
