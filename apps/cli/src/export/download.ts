import { setTimeout as sleep } from 'node:timers/promises';
import type { Earshot } from '@earshot/sdk';
import type { ExportState } from './export-state.ts';
import { createRowSplitter } from './split-rows.ts';

export interface DownloadOptions {
  readonly earshot: Pick<Earshot, 'exportMatches'>;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

const failuresMax = 10;
const delayMsMax = 10_000;

/** Repeats a download that is cut, from where it was cut. Gives up after several attempts in a row that brought nothing. */
export async function retryWhenCut<Result>(
  { signal, note }: DownloadOptions,
  state: ExportState,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (let failures = 0; ; ) {
    const { cursor } = state;
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isRetryable(error)) throw error;
      failures = state.cursor === cursor ? failures + 1 : 1;
      if (failures > failuresMax) throw error;
      if (failures === 1) note('The download was cut. Continuing.');
      const backOffMs = Math.min(delayMsMax, 250 * 2 ** failures);
      await sleep(Math.max(error.retryAfterMs ?? 0, Math.random() * backOffMs), undefined, { signal });
    }
  }
}

function isRetryable(error: unknown): error is Error & { readonly retryAfterMs?: number } {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}

export interface TextSink {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly onRows: (lastCreatedAt: string) => Promise<void>;
}

/** Writes only complete rows, and the header of CSV once. */
export async function downloadText(
  { earshot, signal }: DownloadOptions,
  state: ExportState,
  format: 'ndjson' | 'csv',
  sink: TextSink,
): Promise<void> {
  const { cursor, through } = state;
  const request = { ...state.request, ...(cursor && { cursor }), ...(through && { through }) };
  const file = await earshot.exportMatches(request, { signal });
  state.through ??= file.through;
  const rows = createRowSplitter(format, { withHeader: state.bytes === 0 });
  for await (const chunk of file) {
    const complete = rows.push(chunk);
    if (complete.bytes.length > 0) await sink.write(complete.bytes);
    state.bytes += complete.bytes.length;
    state.rows += complete.count;
    if (complete.last === null) continue;
    state.cursor = complete.last.id;
    await sink.onRows(complete.last.createdAt);
  }
}
