import { z } from 'zod';
import { discard, readJson, retryAfterMs, streamFrames, type UpstreamClient } from '../client.ts';
import type { Recovery, Source } from '../platform.ts';
import { type Line, splitLines } from '../split-lines.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { StreamEnded, type UpstreamStream } from '../upstream-stream.ts';
import { endingOfX, problemOf, wordsAfterColon } from './ending.ts';
import { fieldsOf, wholeSeconds } from './fields.ts';
import { defaultXExpansions } from './settings.ts';

/**
 * Keep-alives arrive every 20 s, and one may be half a period late. The clock of the HTTP client adds up to a second.
 */
const defaultSilenceMaxMs = 30_000;
const path = '/2/tweets/search/stream';

const lineBytesMax = 4 * 1024 * 1024;
const read = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Line> =>
  splitLines(chunks, { bytesMax: lineBytesMax });

/** The filtered stream: one JSON record per CRLF line; empty lines are keep-alives. It cannot resume. */
export function createXStream(
  client: UpstreamClient,
  { expansions = defaultXExpansions, silenceMaxMs = defaultSilenceMaxMs } = {},
): UpstreamStream {
  const query = new URLSearchParams(fieldsOf('tweet', expansions)).toString();
  return {
    async *open(_from, signal) {
      const answer = await client.open(`${path}?${query}`, { silenceMaxMs, signal });
      if (answer.statusCode !== 200) {
        const body: unknown = await readJson(answer.body).catch(() => null);
        const wait = retryAfterMs(answer, Date.now());
        throw refusedWith(answer.statusCode, body, wait);
      }
      try {
        yield { kind: 'opened' };
        for await (const line of streamFrames({ body: answer.body, read, silenceMaxMs, signal })) {
          if (line.isCut) yield { kind: 'too_large', upstreamId: null };
          else if (line.text === '') yield { kind: 'alive' };
          else yield { kind: 'item', upstreamId: null, text: line.text };
        }
      } finally {
        // Also needed if the caller stops before it reads: X allows one connection, and this one would stay open.
        discard(answer);
      }
      throw new StreamEnded({ kind: 'dropped' }, 'X closed the stream');
    },
  };
}

function refusedWith(status: number, body: unknown, retryAfterMs: number | null): StreamEnded {
  const problem = problemOf(body);
  return new StreamEnded(
    endingOfX(problem, { status, retryAfterMs }),
    `X answered ${status}${wordsAfterColon(problem)}`,
  );
}

const recoverySilenceMaxMs = 30_000;

/**
 * A recovery job of an Enterprise app: delivers the stream of a past period again, on a separate connection. It
 * covers the last 24 hours; an hour less is safe.
 */
export function createXRecovery(client: UpstreamClient, expansions = defaultXExpansions): Recovery {
  const fields = fieldsOf('tweet', expansions);
  return {
    reachesBackMs: 23 * 3_600_000,
    async *records(from, to, signal) {
      const query = new URLSearchParams({ ...fields, ...wholeSeconds(from, to) });
      const answer = await client.open(`${path}?${query.toString()}`, {
        silenceMaxMs: recoverySilenceMaxMs,
        signal,
      });
      if (answer.statusCode !== 200) {
        discard(answer);
        throw new UpstreamUnavailable(`X answered ${answer.statusCode} to a recovery`, {
          retryAfterMs: retryAfterMs(answer, Date.now()),
        });
      }
      const lines = { body: answer.body, read, silenceMaxMs: recoverySilenceMaxMs, signal };
      for await (const { text, isCut } of streamFrames(lines)) {
        if (isCut) yield null;
        else if (text !== '') yield text;
      }
    },
  };
}

const connectionsSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })).nullish() });
const endedSchema = z.looseObject({ data: z.looseObject({ successful_kills: z.number() }) });

const connectionsPath = '/2/connections?status=active&endpoints=filtered_stream&max_results=100';

/** Connections that X counts while Earshot has none open belong to a dead process. */
export function createEndStaleConnections(
  client: UpstreamClient,
): NonNullable<Source['endStaleConnections']> {
  return async (signal) => {
    const listed = await client.call('GET', connectionsPath, { signal });
    const uuids = (connectionsSchema.safeParse(listed.body).data?.data ?? []).map(({ id }) => id);
    if (listed.status !== 200 || uuids.length === 0) return 0;
    const ended = await client.call('DELETE', '/2/connections', { body: { uuids }, signal });
    return endedSchema.safeParse(ended.body).data?.data.successful_kills ?? 0;
  };
}
