import { createRandom } from './feed.ts';
import { type LabelledEvent, labelledEvents } from './labelled.ts';

/**
 * Evaluates whether stories should also join items by shared words: tf-idf cosine with the centroid of a story, three shared
 * rare words, and one of them a name or a number. The words of the rule count for nothing. It prints pair precision and recall, beside those of
 * hard links alone, for several thresholds and arrival orders. The server does not do this.
 */
interface Item {
  readonly event: number;
  readonly text: string;
  readonly link: string | null;
  readonly words: readonly string[];
  readonly names: ReadonlySet<string>;
}

const common = new Set(
  (
    'a an and are as at be because been but by can for from gets has have he her his i if in into is it its more my new no not of off on one or our out over ' +
    'per she since so than that the their them there they this to today up us was we were what while who will with you your after before now all says'
  ).split(' '),
);
const tokens = (text: string) =>
  text.normalize('NFKC').match(/[\p{L}\p{N}][\p{L}\p{N}.,’-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? [];
const fold = (word: string) => word.toLowerCase();

function toItem({ rule, texts }: LabelledEvent, event: number, index: number): Item {
  const text = texts[index] ?? '';
  const ofRule = new Set(tokens(rule).map(fold));
  const all = tokens(text).filter((word) => !ofRule.has(fold(word)) && !common.has(fold(word)));
  const first = tokens(text)[0];
  const names = all.filter((word) => /\p{N}/u.test(word) || (/^\p{Lu}/u.test(word) && word !== first));
  // The second post shares the link of the first page.
  const link = index === 1 || index === 3 ? `page of ${event}` : null;
  return { event, text, link, words: [...new Set(all.map(fold))], names: new Set(names.map(fold)) };
}

const items = labelledEvents.flatMap((event, number) =>
  event.texts.map((_, index) => toItem(event, number, index)),
);

interface Options {
  /** Null: only hard links. */
  readonly threshold: number | null;
  readonly sharedMin: number;
}

interface Cluster {
  readonly members: Item[];
  readonly sum: Map<string, number>;
  readonly names: Set<string>;
}

/** One pass, as a stream would be assigned. The frequencies of words are those of the items so far. */
function cluster(order: readonly Item[], { threshold, sharedMin }: Options): Cluster[] {
  const seen = new Map<string, number>();
  const clusters: Cluster[] = [];
  for (const [index, item] of order.entries()) {
    for (const word of item.words) seen.set(word, (seen.get(word) ?? 0) + 1);
    const idf = (word: string) => Math.log((index + 2) / ((seen.get(word) ?? 0) + 0.5));
    const vector = new Map(item.words.map((word) => [word, idf(word)]));
    const linked = clusters.filter(
      ({ members }) => item.link !== null && members.some(({ link }) => link === item.link),
    );
    const similar =
      threshold === null
        ? []
        : clusters.filter((one) => isSimilar(item, vector, one, { threshold, sharedMin }));
    const best = similar
      .toSorted((one, other) => cosine(vector, other.sum) - cosine(vector, one.sum))
      .slice(0, 1);
    const joined = [...new Set([...linked, ...best])];
    const target: Cluster = joined[0] ?? { members: [], sum: new Map(), names: new Set() };
    if (joined.length === 0) clusters.push(target);
    for (const other of joined.slice(1)) {
      target.members.push(...other.members);
      for (const [word, weight] of other.sum) target.sum.set(word, (target.sum.get(word) ?? 0) + weight);
      for (const name of other.names) target.names.add(name);
      clusters.splice(clusters.indexOf(other), 1);
    }
    target.members.push(item);
    for (const [word, weight] of vector) target.sum.set(word, (target.sum.get(word) ?? 0) + weight);
    for (const name of item.names) target.names.add(name);
  }
  return clusters;
}

function isSimilar(
  item: Item,
  vector: ReadonlyMap<string, number>,
  { sum, names }: Cluster,
  { threshold, sharedMin }: { readonly threshold: number; readonly sharedMin: number },
): boolean {
  const shared = item.words.filter((word) => sum.has(word));
  const hasName = shared.some((word) => item.names.has(word) || names.has(word));
  return shared.length >= sharedMin && hasName && cosine(vector, sum) >= threshold;
}

function cosine(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let dot = 0;
  for (const [word, weight] of one) dot += weight * (other.get(word) ?? 0);
  const norm = (vector: ReadonlyMap<string, number>) => Math.hypot(...vector.values());
  return dot / (norm(one) * norm(other) || 1);
}

function pairsOf(clusters: readonly Cluster[]) {
  let [right, wrong] = [0, 0];
  for (const { members } of clusters)
    for (const [index, one] of members.entries())
      for (const other of members.slice(index + 1)) {
        if (one.event === other.event) right += 1;
        else wrong += 1;
      }
  return { right, wrong };
}

const allPairs = labelledEvents.reduce((sum, { texts }) => sum + (texts.length * (texts.length - 1)) / 2, 0);
const ordersMax = 50;

/** The median of several arrival orders, and the lowest precision. */
function evaluate(options: Options): { precision: number; worst: number; recall: number } {
  const random = createRandom(1);
  const found = Array.from({ length: ordersMax }, () => {
    const order = items.map((item) => [random(), item] as const).toSorted(([one], [other]) => one - other);
    const { right, wrong } = pairsOf(
      cluster(
        order.map(([, item]) => item),
        options,
      ),
    );
    return { precision: right / (right + wrong), recall: right / allPairs };
  });
  const median = (values: readonly number[]) =>
    values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
  const precisions = found.map(({ precision }) => precision);
  return {
    precision: median(precisions),
    worst: Math.min(...precisions),
    recall: median(found.map(({ recall }) => recall)),
  };
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const figure = (value: number) => value.toFixed(2);
say(
  `${items.length} items of ${labelledEvents.length} events, ${ordersMax} arrival orders; median precision (lowest), median recall of pairs:`,
);
const links = evaluate({ threshold: null, sharedMin: 0 });
say(`hard links only        ${figure(links.precision)} (${figure(links.worst)})  ${figure(links.recall)}`);
for (const sharedMin of [2, 3])
  for (const threshold of [0.2, 0.25, 0.3, 0.35, 0.4, 0.5]) {
    const { precision, worst, recall } = evaluate({ threshold, sharedMin });
    say(
      `cosine ${figure(threshold)}, ${sharedMin} shared  ${figure(precision)} (${figure(worst)})  ${figure(recall)}  +${figure(recall - links.recall)}`,
    );
  }
