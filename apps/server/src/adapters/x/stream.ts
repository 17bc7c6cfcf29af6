import { StreamEnded, type StreamEnding, type UpstreamStream } from '../../ingest/upstream-stream.ts';
import { streamChunks, type UpstreamClient } from '../upstream/client.ts';
import { retryAfterMs } from '../upstream/retry-after.ts';
import { problemOf, problemType } from './problem.ts';
import { splitLines } from './split-lines.ts';

/** Keep-alives come every 20 s: a timer of 20 s would misfire (x.md §5.3). */
const silenceMaxMs = 30_000;

/** Everything app-only that can influence matching (x.md §4.1). */
export const fields = new URLSearchParams({
  'tweet.fields': [
    'attachments,author_id,context_annotations,conversation_id,created_at,display_text_range,edit_controls',
    'edit_history_tweet_ids,entities,geo,id,in_reply_to_user_id,lang,note_tweet,possibly_sensitive',
    'public_metrics,referenced_tweets,reply_settings,scopes,source,text,withheld',
  ].join(','),
  expansions: [
    'author_id,in_reply_to_user_id,referenced_tweets.id,referenced_tweets.id.author_id',
    'entities.mentions.username,entities.note.mentions.username,attachments.media_keys',
    'referenced_tweets.id.attachments.media_keys,geo.place_id',
  ].join(','),
  'user.fields':
    'affiliation,created_at,description,id,location,name,public_metrics,username,verified,verified_type',
  'media.fields': 'media_key,type,url,preview_image_url,duration_ms,alt_text',
  'place.fields': 'contained_within,country,country_code,full_name,geo,id,name,place_type',
});

/** The filtered stream: one JSON record per CRLF line, empty lines are keep-alives. It cannot resume. */
export function createXStream(client: UpstreamClient): UpstreamStream {
  return {
    async *open(_from, signal) {
      const answer = await client.open(`/2/tweets/search/stream?${fields.toString()}`, {
        // Compression would hold keep-alives back in the decompressor.
        headers: { 'accept-encoding': 'identity' },
        silenceMaxMs,
        signal,
      });
      if (answer.statusCode !== 200) {
        const body: unknown = await answer.body.json().catch(() => null);
        const wait = retryAfterMs(answer, Date.now());
        throw refusedWith(answer.statusCode, body, wait);
      }
      yield { kind: 'opened' };
      for await (const line of splitLines(streamChunks(answer.body, signal))) {
        if (line === null) yield { kind: 'too_large' };
        else if (line !== '') yield { kind: 'item', upstreamId: null, text: line };
      }
      throw new StreamEnded({ kind: 'dropped' }, 'X closed the stream');
    },
  };
}

function refusedWith(status: number, body: unknown, waitMs: number | null): StreamEnded {
  const problem = problemOf(body);
  const ending = endingOf(status, problem.connection_issue ?? null, problemType(problem.type), waitMs);
  return new StreamEnded(
    ending,
    `X answered ${status} ${problem.connection_issue ?? problem.title ?? ''}`.trim(),
  );
}

/** x.md §5.1, by status and discriminator. */
function endingOf(
  status: number,
  issue: string | null,
  type: string | null,
  retryAfterMs: number | null,
): StreamEnding {
  switch (status) {
    case 400:
      return { kind: 'refused', reason: 'request' };
    case 401:
    case 403:
      return { kind: 'refused', reason: 'credentials' };
    case 402:
      return { kind: 'refused', reason: 'credit' };
    case 409:
      return { kind: 'no_rules' };
    case 429:
      if (issue === 'TooManyConnections') return { kind: 'slot_busy' };
      if (type === 'usage-capped') return { kind: 'refused', reason: 'credit' };
      return { kind: 'rate_limited', retryAfterMs };
    case 503:
      return issue === 'ProvisioningSubscription' ? { kind: 'provisioning' } : { kind: 'failing', status };
    default:
      return { kind: 'failing', status };
  }
}
