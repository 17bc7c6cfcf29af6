import { streamChunks, type UpstreamClient } from '../client.ts';
import type { Recovery } from '../post-search.ts';
import { retryAfterMs } from '../retry-after.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { splitLines } from './split-lines.ts';
import { fields } from './stream.ts';

const silenceMaxMs = 30_000;

/** A recovery job of an Enterprise app: the stream once more, from one time to another, on a connection of its own. */
export function createXRecovery(client: UpstreamClient): Recovery {
  return {
    async *records(from, to, signal) {
      const seconds = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
      const start = seconds(Math.floor(from.getTime() / 1_000) * 1_000);
      const end = seconds(Math.ceil(to.getTime() / 1_000) * 1_000);
      const answer = await client.open(
        `/2/tweets/search/stream?${fields.toString()}&start_time=${start}&end_time=${end}`,
        { headers: { 'accept-encoding': 'identity' }, silenceMaxMs, signal },
      );
      if (answer.statusCode !== 200) {
        answer.body.on('error', () => undefined).destroy();
        throw new UpstreamUnavailable(`X answered ${answer.statusCode} to a recovery`, {
          retryAfterMs: retryAfterMs(answer, Date.now()),
        });
      }
      for await (const line of splitLines(streamChunks(answer.body, signal))) {
        if (line !== null && line !== '') yield line;
      }
    },
  };
}
