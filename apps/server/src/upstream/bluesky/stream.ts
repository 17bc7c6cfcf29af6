import { createHash } from 'node:crypto';
import type { LocalRules } from '../local-rules.ts';
import {
  StreamEnded,
  type StreamEnding,
  type StreamFrame,
  type StreamStart,
  type UpstreamStream,
} from '../upstream-stream.ts';
import { type Commit, keyOf, postCollection, readFrame, timeOfId, uriOf } from './commit.ts';
import type { MatchedPost } from './item.ts';
import { type Matcher, openMatcher } from './matcher.ts';
import { readSocket } from './socket.ts';

export interface BlueskyStreamOptions {
  readonly url: string;
  readonly sourceId: string;
  readonly rules: LocalRules;
}

const path = '/xrpc/network.bsky.jetstream.subscribeEvents';
/** The older protocol has another path, which the operator's URL then names. */
const olderPath = '/subscribe';
/** Larger posts do not exist. */
const frameBytesMax = 1024 * 1024;
/** A resumed stream begins this much earlier: events have times that are not quite in order, and every instance has its own. */
const overlapMs = 2_000;
/** The older protocol skips what it no longer has without a word. Posts arrive many times per second. */
const skippedMs = 300_000;

/** A new rule is read within a second of its registration, or a lost wake-up later. */
const recentMs = 3_000;
const recentMax = 10_000;

/** The posts of all users, of which the matching ones are passed on. */
export function createBlueskyStream({ url, sourceId, rules }: BlueskyStreamOptions): UpstreamStream {
  return {
    async *open(start, signal) {
      await using matcher = await openMatcher(rules, sourceId);
      const { oldest, emptied } = matcher;
      if (oldest === null) throw noRules();
      const fromMs = startOf(start, oldest);
      const target = streamUrl(url, fromMs);
      const reader = createReader(matcher, { fromMs, isSilent: target.pathname.endsWith(olderPath) });
      let isOpen = false;
      try {
        const ends = AbortSignal.any([signal, emptied]);
        for await (const messages of readSocket(target, ends, (nudge) => matcher.onAdded(nudge))) {
          if (!isOpen) yield { kind: 'opened' };
          isOpen = true;
          yield* reader.read(messages);
        }
      } catch (error) {
        throw emptied.aborted && !signal.aborted ? noRules() : error;
      }
    },
  };
}

const noRules = () => new StreamEnded({ kind: 'no_rules' }, 'no rule needs the stream');

/** Null for the live end of the stream. */
function startOf({ after, since }: StreamStart, oldestRule: Date): number | null {
  const resumeAt = (after === null ? null : timeOfId(after)) ?? since;
  if (resumeAt === null) return null;
  return Math.max(resumeAt.getTime(), oldestRule.getTime()) - overlapMs;
}

function streamUrl(base: string, fromMs: number | null): URL {
  const target = new URL(base);
  const isOlder = target.pathname.endsWith(olderPath);
  if (!isOlder) {
    target.pathname = path;
    target.searchParams.set('kinds', 'commit');
  }
  target.searchParams.set(isOlder ? 'wantedCollections' : 'collections', postCollection);
  target.searchParams.set('maxMessageSizeBytes', String(frameBytesMax));
  // A cursor of this size is a time, which holds on every instance; sequence numbers belong to one of them.
  if (fromMs !== null) target.searchParams.set('cursor', String(Math.round(fromMs * 1_000)));
  return target;
}

interface Request {
  readonly fromMs: number | null;
  /** The older protocol skips what it no longer has without a word. */
  readonly isSilent: boolean;
}

function createReader(matcher: Matcher, { fromMs, isSilent }: Request) {
  let isOutdated = false;
  let isFirst = true;
  const recent: Recent[] = [];

  /** The first item after the requested time shows from when on the instance still has everything. */
  function* lossBefore(at: Date): Generator<StreamFrame> {
    const laterMs = fromMs === null ? 0 : at.getTime() - fromMs;
    const isLater = isOutdated ? laterMs > overlapMs : isSilent && laterMs > skippedMs;
    if (isFirst && isLater) yield { kind: 'lost', before: at };
    isFirst = false;
  }

  function* readCommit(commit: Commit, text: string): Generator<StreamFrame, boolean> {
    const at = timeOfId(commit.id);
    if (at === null) return false;
    yield* lossBefore(at);
    const { id, operation } = commit;
    if (operation === 'delete') {
      const uri = uriOf(commit);
      yield { kind: 'deleted', upstreamId: id, platformPostId: uri, key: keyOf(uri) };
      return true;
    }
    if (text.length > frameBytesMax) return false;
    keepRecent(recent, { commit, at, receivedAt: performance.now() });
    const rules = matcher.match(commit, at);
    if (rules.length === 0) return false;
    yield itemOf(commit, id, rules);
    return true;
  }

  /** A rule may have been registered moments before it was read: posts that arrived in between are matched again. */
  function* matchAgain(): Generator<StreamFrame> {
    const match = matcher.takeAdded();
    if (match === null) return;
    for (const { commit, at } of recent) {
      const rules = match(commit, at);
      // Another id, because the log drops a message that it has.
      if (rules.length > 0)
        yield itemOf(
          commit,
          `${commit.id}-${createHash('sha256').update(rules.join()).digest('hex').slice(0, 8)}`,
          rules,
        );
    }
  }

  return {
    *read(messages: readonly string[]): Generator<StreamFrame> {
      yield* matchAgain();
      let passed: string | null = null;
      for (const text of messages) {
        const frame = readFrame(text);
        // Its reason to be dropped is found by the reader of items.
        if (frame === null) yield { kind: 'item', upstreamId: null, text };
        else if (frame.kind === 'error')
          throw new StreamEnded(
            endingOf(frame.name),
            `Bluesky sent ${frame.name}: ${frame.message.slice(0, 300)}`,
          );
        else if (frame.kind === 'outdated') isOutdated = true;
        else if (frame.kind === 'other') passed = frame.id ?? passed;
        else if (yield* readCommit(frame.commit, text)) passed = null;
        else passed = frame.commit.id;
      }
      yield passed === null ? { kind: 'alive' } : { kind: 'passed', upstreamId: passed };
    },
  };
}

interface Recent {
  readonly commit: Commit;
  readonly at: Date;
  readonly receivedAt: number;
}

function keepRecent(recent: Recent[], post: Recent): void {
  recent.push(post);
  const oldest = post.receivedAt - recentMs;
  if (recent.length > 2 * recentMax || (recent[0]?.receivedAt ?? 0) < oldest - recentMs) {
    const first = recent.findIndex(({ receivedAt }) => receivedAt >= oldest);
    recent.splice(0, Math.max(first, recent.length - recentMax));
  }
}

function itemOf({ did, time, rkey, cid, record }: Commit, id: string, rules: readonly string[]): StreamFrame {
  const matched: MatchedPost = { id, rules, post: { did, time, rkey, cid, record } };
  return { kind: 'item', upstreamId: id, text: JSON.stringify(matched) };
}

function endingOf(name: string): StreamEnding {
  return { kind: name === 'ConsumerTooSlow' ? 'slow_reader' : 'dropped' };
}
