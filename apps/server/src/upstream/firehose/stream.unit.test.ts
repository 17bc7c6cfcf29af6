import { describe, expect, test } from 'vitest';
import { type Answer, startAnsweringServer } from '../../../test/answering-server.ts';
import { createUpstreamClient } from '../client.ts';
import { StreamEnded, type StreamStart } from '../upstream-stream.ts';
import { createFirehoseStream } from './stream.ts';

const hourMs = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);
const opened = { status: 200, text: 'event: connected\ndata: {}\n\n' };
const refused = { status: 400, body: { message: 'The Last-Event-ID is not known.' } };

/** Connects once; returns how the stream ended and the requests. */
async function connect(from: Omit<StreamStart, 'now'>, answers: readonly Answer[]) {
  await using server = await startAnsweringServer(answers);
  await using client = createUpstreamClient({ baseUrl: server.url, token: 't', name: 'Firehose' });
  const frames: string[] = [];
  try {
    for await (const { kind } of createFirehoseStream(client).open(
      { ...from, now: new Date() },
      new AbortController().signal,
    ))
      frames.push(kind);
  } catch (error) {
    if (!(error instanceof StreamEnded)) throw error;
    const requests = server.asked.map((path, index) => ({
      since: new URL(String(path), server.url).searchParams.get('since'),
      id: server.headers[index]?.['last-event-id'],
    }));
    return { frames, ending: error.ending, requests };
  }
  throw new Error('it ended without saying how');
}

describe('a stream is resumed', () => {
  test('after the last event', async () => {
    const from = { after: '0-7', afterAt: ago(22 * hourMs), since: ago(90_000) };
    expect((await connect(from, [opened])).requests).toEqual([{ id: '0-7', since: null }]);
  });

  test('from the last proven moment if the event is older than the retention of Firehose', async () => {
    const from = { after: '0-7', afterAt: ago(24 * hourMs), since: ago(90_000) };
    const { frames, requests } = await connect(from, [opened]);
    expect(requests).toEqual([{ id: undefined, since: '3m' }]);
    expect(frames).toEqual(['opened']);
  });

  test('from the last proven moment, at once, if Firehose refuses the id', async () => {
    const from = { after: '0-7', afterAt: ago(hourMs), since: ago(90_000) };
    const { frames, requests } = await connect(from, [refused, opened]);
    expect(requests).toEqual([
      { id: '0-7', since: null },
      { id: undefined, since: '3m' },
    ]);
    expect(frames).toEqual(['opened']);
  });

  test('from a day ago if no proof is known', async () => {
    const { requests } = await connect({ after: '0-7', since: null }, [refused, opened]);
    expect(requests[1]).toEqual({ id: undefined, since: '1440m' });
  });
});

test.each([
  [401, { kind: 'credentials' }],
  [402, { kind: 'no_credit' }],
  [503, { kind: 'failing', status: 503 }],
])('a %i is not caused by the id', async (status, ending) => {
  const result = await connect({ after: '0-7', since: ago(90_000) }, [{ status }]);
  expect(result).toMatchObject({ ending, requests: [{ id: '0-7' }] });
});

test('a request without an id that is refused is a bad request', async () => {
  const { ending, requests } = await connect({ after: '0-7', since: ago(90_000) }, [refused, refused]);
  expect(ending).toEqual({ kind: 'bad_request' });
  expect(requests).toHaveLength(2);
});
