import type { DoctorPlatform } from '../platform.ts';
import { type Bench, type Observation, type Step, seen } from '../step.ts';

const collection = 'app.bsky.feed.post';
const path = '/xrpc/network.bsky.jetstream.subscribeEvents';
const framesMin = 20;
const readForMs = 15_000;
/** Time of this machine, also where a test lets the other waits pass faster. */
const openWithinMs = 15_000;
const minuteMs = 60_000;
/** Longer than any instance keeps posts. */
const tooOldMs = 30 * 24 * 60 * minuteMs;

interface Post {
  readonly ms: number;
  readonly collection: unknown;
  readonly isWhole: boolean;
}

interface Reading {
  readonly posts: readonly Post[];
  /** Frames that are neither posts nor notices. */
  readonly others: number;
  readonly seconds: number;
}

const b0: Step = {
  id: 'B0',
  about: 'the stream of a Jetstream instance',
  calls: 'three connections of up to 30 s',
  usdMax: 0,
  needsNoToken: true,
  async *run(bench) {
    yield* seeLive(await read(bench, null));
    const fromMs = Math.round(Date.now() - bench.realMs(minuteMs));
    const minuteAgo = await read(bench, fromMs);
    const lateMs = Math.abs((minuteAgo.posts[0]?.ms ?? Number.NaN) - fromMs);
    yield seen('B-4', lateMs < bench.realMs(minuteMs) / 2, words(lateMs));
    const old = await read(bench, Date.now() - tooOldMs);
    yield seen('B-5', old.posts.length > 0, old.posts.length > 0 ? 'posts arrive' : 'nothing arrives');
  },
};

export const doctorOfBluesky: DoctorPlatform = {
  name: 'Bluesky',
  owner: 'This instance',
  steps: [b0],
  survey: async () => ({ earshotRules: 0, otherRules: 0, openStreams: 0 }),
  undo: async () => 0,
};

function words(lateMs: number): string {
  return Number.isNaN(lateMs) ? 'nothing arrives' : `${Math.round(lateMs / 1_000)} s from it`;
}

function* seeLive({ posts, others, seconds }: Reading): Generator<Observation> {
  const broken = others + posts.filter(({ isWhole }) => !isWhole).length;
  yield seen('B-1', posts.length > 0 && broken === 0, `${posts.length} posts, ${broken} other frames`);
  const foreign = posts.filter((post) => post.collection !== collection).length;
  yield seen('B-2', posts.length > 0 && foreign === 0, `${foreign} of other collections`);
  yield seen('B-3', posts.length / seconds > 1, posts.length / seconds > 1 ? 'more' : 'less');
}

/** Reads some frames, from this time or live. */
async function read({ url: base, realMs, throwIfStopped }: Bench, fromMs: number | null): Promise<Reading> {
  throwIfStopped();
  const startedAt = performance.now();
  const posts: Post[] = [];
  let others = 0;
  const socket = new WebSocket(streamUrl(base, fromMs));
  await new Promise<void>((resolve, reject) => {
    let timer = setTimeout(resolve, openWithinMs);
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      timer = setTimeout(resolve, realMs(readForMs));
    });
    socket.addEventListener('message', ({ data }) => {
      const post = readPost(String(data));
      if (post === 'other') others += 1;
      else if (post !== 'notice') posts.push(post);
      if (posts.length >= framesMin) resolve();
    });
    socket.addEventListener('close', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.addEventListener('error', () => reject(new Error(`${base} does not open a stream`)));
  }).finally(() => socket.close());
  return { posts, others, seconds: (performance.now() - startedAt) / 1_000 };
}

function streamUrl(base: string, fromMs: number | null): URL {
  const target = new URL(base);
  const isOlder = target.pathname.endsWith('/subscribe');
  if (!isOlder) {
    target.pathname = path;
    target.searchParams.set('kinds', 'commit');
  }
  target.searchParams.set(isOlder ? 'wantedCollections' : 'collections', collection);
  if (fromMs !== null) target.searchParams.set('cursor', String(fromMs * 1_000));
  return target;
}

function readPost(text: string): Post | 'notice' | 'other' {
  let frame: Record<string, unknown>;
  try {
    frame = JSON.parse(text);
  } catch {
    return 'other';
  }
  const payload = frame['payload'] === undefined ? frame : Object(frame['payload']);
  if (String(payload['$type']).endsWith('#info')) return 'notice';
  const isOlder = payload['commit'] !== undefined;
  const commit = isOlder ? Object(payload['commit']) : payload;
  const ms = isOlder ? Number(payload['time_us']) / 1_000 : Date.parse(String(payload['time']));
  if (commit['operation'] === undefined || Number.isNaN(ms)) return 'other';
  const hasRecord = commit['operation'] === 'delete' || typeof Object(commit['record'])['text'] === 'string';
  const isWhole = typeof payload['did'] === 'string' && typeof commit['rkey'] === 'string' && hasRecord;
  return { ms, collection: commit['collection'], isWhole };
}
