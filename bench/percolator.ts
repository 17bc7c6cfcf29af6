import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPercolator, languages, type Node } from '@earshot/query';
import { createRandom, type Random } from '../packages/query/test/firehose/random.ts';
import { describePace } from './machine-pace.ts';

/**
 * Measures how many posts one thread matches against 10, 1,000 and 100,000 rules, beside a loop that only parses the JSON of the
 * same frames. The two alternate, so that other load affects both equally. The words of posts and rules follow Zipf's law.
 */
const frameCount = 2_000;
const windows = 9;
const windowMs = 300;
const vocabulary = 300_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Frequent words are short. */
function wordOfRank(rank: number): string {
  const letters = 'etaoinshrdlucmfwypvbgkjqxz';
  let word = '';
  for (let rest = rank + 26; rest > 0; rest = Math.floor(rest / 26)) word += letters[rest % 26];
  return word + letters[rank % 7] + (rank > 1_000 ? letters[rank % 11] : '');
}

/** Log-uniform: a tenth of the ranks is about as frequent as the next nine tenths. */
const anyWord = (random: Random) => wordOfRank(Math.floor(vocabulary ** fraction(random)) - 1);
/** What a rule is about is none of the 1,000 most frequent words. */
const subject = (random: Random) => wordOfRank(Math.floor(1_000 * (vocabulary / 1_000) ** fraction(random)));
const fraction = (random: Random) => random.below(1_000_000) / 1_000_000;
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const did = (n: number) =>
  `did:plc:${Array.from({ length: 24 }, (_, at) => base32[Math.floor((n * (at + 1) * 7_919) / 32 ** (at % 4)) % 32]).join('')}`;
const anyDid = (random: Random) => did(random.below(200_000));
const several = (random: Random, least: number, most: number, join: string) =>
  Array.from({ length: least + random.below(most - least + 1) }, () => subject(random)).join(join);

function makeRule(random: Random): string {
  const roll = random.below(100);
  if (roll < 15) return subject(random);
  if (roll < 33) return several(random, 2, 2, ' ');
  if (roll < 43) return `${subject(random)} lang:en -is:reply`;
  if (roll < 63) return `"${several(random, 2, 2, ' ')}"`;
  if (roll < 76) return `(${several(random, 3, 3, ' OR ')}) (${several(random, 4, 4, ' OR ')}) -is:reply`;
  if (roll < 81) return several(random, 3, 8, ' OR ');
  if (roll < 90) return `${subject(random)} ${subject(random)} -${subject(random)} -${subject(random)}`;
  if (roll < 93) return `from:${anyDid(random)}`;
  if (roll < 96) return `#${subject(random)} has:images`;
  return `url:"${subject(random)}.example" lang:en`;
}

/** Some rules of the same word twice contradict themselves. */
function validRule(random: Random): Node {
  for (;;) {
    const { root, canonical } = languages.bluesky.validate(makeRule(random));
    if (root !== null && canonical !== null) return root;
  }
}

function makeFrame(random: Random, seq: number): string {
  const words = Array.from({ length: 5 + random.below(40) }, () => anyWord(random));
  const tag = random.chance(0.2) ? subject(random) : null;
  const link = random.chance(0.2) ? `https://${subject(random)}.example/${subject(random)}` : null;
  const text = [words.join(' '), tag && `#${tag}`, link].filter(Boolean).join(' ');
  const facet = (part: string, feature: object) => {
    const byteStart = text.lastIndexOf(part);
    return { index: { byteStart, byteEnd: byteStart + part.length }, features: [feature] };
  };
  const uri = `at://${anyDid(random)}/app.bsky.feed.post/3l6oveex3ii2l`;
  const reference = { uri, cid: 'bafyreibxq4ldxkp3tbwwpsudjvqhawkvmtnnk7uz5w2wgxmgpyzqaqzvju' };
  const record = {
    $type: 'app.bsky.feed.post',
    createdAt: '2026-01-01T00:00:00.000Z',
    text,
    langs: [random.chance(0.6) ? 'en' : 'ja'],
    ...(random.chance(0.35) && { reply: { root: reference, parent: reference } }),
    ...(random.chance(0.2) && { embed: { $type: 'app.bsky.embed.images', images: [{ alt: '' }] } }),
    facets: [
      ...(tag === null ? [] : [facet(`#${tag}`, { $type: 'app.bsky.richtext.facet#tag', tag })]),
      ...(link === null ? [] : [facet(link, { $type: 'app.bsky.richtext.facet#link', uri: link })]),
    ],
  };
  return JSON.stringify({
    $type: 'message',
    payload: {
      $type: 'network.bsky.jetstream.subscribeEvents#commit',
      seq,
      did: anyDid(random),
      time: '2026-01-01T00:00:00.000000Z',
      rev: '3l6oveex3ii2l',
      operation: 'create',
      collection: 'app.bsky.feed.post',
      rkey: '3l6oveex3ii2l',
      cid: reference.cid,
      record,
    },
  });
}

interface Window {
  readonly postsPerSecond: number;
  readonly cpuUsPerPost: number;
}

function measure(frames: readonly string[], handle: (frame: string) => void): Window {
  const cpu = process.cpuUsage();
  const started = performance.now();
  let posts = 0;
  while (performance.now() - started < windowMs) {
    for (let next = 0; next < 100; next += 1) handle(frames[(posts + next) % frames.length] ?? '');
    posts += 100;
  }
  const { user, system } = process.cpuUsage(cpu);
  return {
    postsPerSecond: (posts * 1_000) / (performance.now() - started),
    cpuUsPerPost: (user + system) / posts,
  };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const heapUsed = () => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const frames = Array.from({ length: frameCount }, (_, seq) => makeFrame(createRandom(seq + 1), seq));
const parse = (frame: string) => JSON.parse(frame).payload as unknown;
const bytes = frames.reduce((sum, frame) => sum + frame.length, 0) / frames.length;
process.stdout.write(`${frameCount} frames of ${bytes.toFixed(0)} bytes on average, ${describePace()}\n`);

for (const rules of [10, 1_000, 100_000]) {
  const percolator = createPercolator();
  const random = createRandom(7);
  const heapBefore = heapUsed();
  let setMs = 0;
  for (let n = 0; n < rules; n += 1) {
    const root = validRule(random);
    const started = performance.now();
    percolator.set(`0198f2c4-7e1a-7000-8000-${String(n).padStart(12, '0')}`, root);
    setMs += performance.now() - started;
  }
  const bytesPerRule = (heapUsed() - heapBefore) / rules;
  const rssMiB = process.memoryUsage().rss / 1_048_576;

  const bare: Window[] = [];
  const matched: Window[] = [];
  let [posts, matches] = [0, 0];
  for (let window = 0; window < windows + 2; window += 1) {
    const [one, other] = [
      measure(frames, parse),
      measure(frames, (frame) => {
        posts += 1;
        matches += percolator.match(parse(frame)).length;
      }),
    ];
    // The first windows warm the compiler up.
    if (window >= 2) {
      bare.push(one);
      matched.push(other);
    }
  }
  const removeMs = -performance.now();
  for (let n = 0; n < rules; n += 1)
    percolator.delete(`0198f2c4-7e1a-7000-8000-${String(n).padStart(12, '0')}`);
  const cpu = median(matched.map(({ cpuUsPerPost }) => cpuUsPerPost));
  const bareCpu = median(bare.map(({ cpuUsPerPost }) => cpuUsPerPost));
  process.stdout.write(
    `${String(rules).padStart(7)} rules: ${median(matched.map(({ postsPerSecond }) => postsPerSecond)).toFixed(0)} posts/s, ` +
      `best ${Math.max(...matched.map(({ postsPerSecond }) => postsPerSecond)).toFixed(0)}; ${cpu.toFixed(1)} µs of processor time per post, ` +
      `${(cpu / bareCpu).toFixed(1)} times JSON.parse alone (${bareCpu.toFixed(1)} µs); ${(matches / posts).toFixed(1)} matches per post\n` +
      `${' '.repeat(15)}${rules < 1_000 ? '' : `${bytesPerRule.toFixed(0)} bytes per rule, `}${rssMiB.toFixed(0)} MiB resident; ` +
      `add ${((setMs * 1_000) / rules).toFixed(1)} µs, remove ${(((removeMs + performance.now()) * 1_000) / rules).toFixed(1)} µs\n`,
  );
}
