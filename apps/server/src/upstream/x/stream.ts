import { streamChunks, type UpstreamClient } from '../client.ts';
import { retryAfterMs } from '../retry-after.ts';
import { StreamEnded, type UpstreamStream } from '../upstream-stream.ts';
import { endingOfX } from './ending.ts';
import { problemOf } from './problem.ts';
import { splitLines } from './split-lines.ts';

/** Keep-alives come every 20 s: a timer of 20 s would misfire. Our HTTP client's clock adds up to a second. */
const defaultSilenceMaxMs = 25_000;

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
export function createXStream(
  client: UpstreamClient,
  { silenceMaxMs = defaultSilenceMaxMs } = {},
): UpstreamStream {
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
        else if (line === '') yield { kind: 'alive' };
        else yield { kind: 'item', upstreamId: null, text: line };
      }
      throw new StreamEnded({ kind: 'dropped' }, 'X closed the stream');
    },
  };
}

function refusedWith(status: number, body: unknown, retryAfterMs: number | null): StreamEnded {
  const problem = problemOf(body);
  return new StreamEnded(
    endingOfX(problem, { status, retryAfterMs }),
    `X answered ${status} ${problem.connection_issue ?? problem.title ?? ''}`.trim(),
  );
}
