import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { StreamEnded, type StreamFrame } from '../upstream-stream.ts';

const frameLengthMax = 16 * 1024 * 1024;

/** Server-sent events out of bytes whose chunks may end anywhere (firehose.md §6.5). Always ends by throwing. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamFrame> {
  const decoder = new TextDecoder();
  const ready: StreamFrame[] = [];
  let ended: StreamEnded | null = null;
  const parser = createParser({
    maxBufferSize: frameLengthMax,
    onEvent: (message) => {
      ended ??= endOf(message);
      if (!ended) ready.push(...frameOf(message));
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') {
        ended ??= new StreamEnded(
          { kind: 'failing', status: 200 },
          'Firehose sent a frame beyond all bounds',
          error,
        );
      }
    },
  });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
    if (ended) throw ended;
  }
  throw new StreamEnded({ kind: 'dropped' }, 'Firehose closed the stream without an end event');
}

function frameOf({ event, id, data }: EventSourceMessage): StreamFrame[] {
  if (event === 'connected') return [{ kind: 'opened' }];
  if (event === 'update') return [{ kind: 'item', upstreamId: id ?? null, text: data }];
  return [];
}

function endOf({ event, data }: EventSourceMessage): StreamEnded | null {
  if (event === 'end') return new StreamEnded({ kind: 'finished' }, 'Firehose ended the stream');
  if (event !== 'error') return null;
  return data.includes('No rules configured')
    ? new StreamEnded({ kind: 'no_rules' }, 'the tap has no rules')
    : new StreamEnded({ kind: 'failing', status: 200 }, `Firehose says ${data.slice(0, 200)}`);
}
