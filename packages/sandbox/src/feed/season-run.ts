import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Deps } from '../deps.ts';
import type { JsonObject } from '../http/json.ts';
import { createRandom, type Random } from '../random.ts';
import { buildPost, type XPost } from '../x/post.ts';
import { publishPosts } from '../x/publish.ts';
import { createPostWriter, type Shares } from './posts.ts';
import { type Burst, burstAt, levelAt, type Season } from './season.ts';

export interface SeasonRun {
  readonly fromMs: number;
  readonly hours: number;
  readonly postsPerHour: number;
  readonly season: Season;
  readonly shares: Shares;
  readonly seed: number;
  /** Sends the posts to the streams, with the time of now, instead of only archiving them with theirs. */
  readonly streamed: boolean;
}

const minuteMs = 60_000;
const backlogBytesMax = 256 * 1024;
const waitsMax = 1_000;

/** Publishes the posts of many hours at once. The same run publishes the same posts, but for their ids. */
export async function runSeason(run: SeasonRun, deps: Deps) {
  const random = createRandom(run.seed);
  let atMs = run.fromMs;
  const writePost = createPostWriter(random, () => deps.nextId(run.streamed ? deps.clock.nowMs() : atMs));
  const bursts = new Map<number, Burst>();
  let posts = 0;
  let matched = 0;

  for (let minute = 0; minute < run.hours * 60; minute += 1) {
    const startMs = run.fromMs + minute * minuteMs;
    const burst = burstAt(run.season, run.seed, startMs);
    if (burst !== undefined) bursts.set(burst.startMs, burst);
    const perMinute = (run.postsPerHour / 60) * levelAt(run.season, startMs);
    const usual = arrivals(random, perMinute).map((place) => ({ place, topic: undefined }));
    const extra = burst === undefined ? 0 : perMinute * (run.season.burstFactor - 1);
    const more = arrivals(random, extra).map((place) => ({ place, topic: burst?.topic }));
    const inputs = [...usual, ...more]
      .toSorted((one, other) => one.place - other.place)
      .map(({ place, topic }) => {
        atMs = Math.floor(startMs + place * minuteMs);
        const post = writePost({ topic, shares: run.shares });
        return run.streamed ? post : { ...post, created_at: new Date(atMs).toISOString() };
      });
    posts += inputs.length;
    matched += await publish(inputs, run.streamed, deps);
  }
  return { posts, matched, bursts: [...bursts.values()] };
}

/** Times of a Poisson process in one unit of time. */
function arrivals(random: Random, mean: number): number[] {
  const times: number[] = [];
  for (let at = next(random, mean); at < 1; at += next(random, mean)) times.push(at);
  return times;
}

function next(random: Random, mean: number): number {
  return -Math.log(1 - random.fraction()) / mean;
}

/** Returns how many of the posts matched a rule. */
async function publish(inputs: readonly JsonObject[], streamed: boolean, deps: Deps): Promise<number> {
  const posts = inputs.map((input) => buildPost(input, { nowMs: deps.clock.nowMs, nextId: deps.nextId }));
  const valid = posts.filter((post): post is XPost => typeof post !== 'string');
  // Between two minutes of the run, so that requests are answered while it goes on.
  await setImmediate();
  if (!streamed) {
    deps.archive.add(valid);
    return 0;
  }
  const matches = publishPosts(valid, deps);
  await drained(deps);
  return matches.filter((apps) => apps.length > 0).length;
}

/** Waits for the readers, but not for ever: a run is faster than any feed, and who cannot keep up would be disconnected. */
async function drained({ apps }: Deps): Promise<void> {
  const isBehind = () =>
    [...apps.values()].some(({ connections }) =>
      connections.open().some(({ pipe }) => pipe.backlogBytes() > backlogBytesMax && !pipe.isStalled()),
    );
  for (let waits = 0; waits < waitsMax && isBehind(); waits += 1) await setTimeout(5);
}
