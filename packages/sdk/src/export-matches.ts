import type { Requests } from './contract-types.ts';
import { operations } from './operations.ts';
import { type Connection, send } from './send.ts';

export interface ExportOptions {
  readonly signal?: AbortSignal | undefined;
  /** The connection counts as dead after this long without data. 60 s by default. */
  readonly silenceMsMax?: number | undefined;
}

/** The bytes of a file while it is downloaded. */
export interface ExportedFile extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  /** Id of the last match of the export. To continue a cut download up to the same match, send it as `through`. */
  readonly through: string;
  /** `cursor` of the next file; null if this one reaches the end of the export. */
  readonly nextCursor: string | null;
}

const defaultSilenceMs = 60_000;

/** Downloads as fast as the loop reads. Leaving the loop ends the download. */
export async function exportMatches(
  connection: Connection,
  request: Requests['ExportMatches'],
  { signal, silenceMsMax: timeoutMs = defaultSilenceMs }: ExportOptions = {},
): Promise<ExportedFile> {
  const { method, path } = operations.ExportMatches;
  const { response, within, close } = await send(connection, { method, path, request, signal, timeoutMs });
  async function* bytes() {
    try {
      const reader = response.body?.getReader();
      for (;;) {
        if (!reader) return;
        const { done, value } = await within(timeoutMs, () => reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      close();
    }
  }
  return {
    through: response.headers.get('x-export-through') ?? '',
    nextCursor: response.headers.get('x-export-cursor'),
    [Symbol.asyncIterator]: bytes,
  };
}
