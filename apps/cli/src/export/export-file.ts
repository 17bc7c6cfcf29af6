import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Requests } from '@earshot/sdk';
import { usageFailure } from '../failure.ts';
import { type DownloadOptions, downloadText, retryWhenCut } from './download.ts';
import { type ExportState, readState, removeState, writeState } from './export-state.ts';

export interface ExportFileOptions extends DownloadOptions {
  readonly out: string;
  readonly force: boolean;
  /** Called with the time of the last row, which is unknown for Parquet. */
  readonly onProgress: (state: ExportState, lastCreatedAt: string | null) => void;
}

const stateEveryMs = 1_000;

/** Writes to `FILE.part`, and renames it when it is complete. */
export async function exportText(
  options: ExportFileOptions,
  request: Requests['ExportMatches'],
  format: 'ndjson' | 'csv',
): Promise<ExportState> {
  const { out, force, onProgress } = options;
  if (!force && (await exists(out))) throw taken(out);
  const part = `${out}.part`;
  const stateFile = `${part}.json`;
  const stored = await readState(stateFile, request);
  const size = (await stat(part).catch(() => null))?.size ?? 0;
  // After a loss of power, the file may have less than was written.
  const isUsable = stored !== null && stored.bytes <= size;
  const state: ExportState = isUsable ? stored : { request, bytes: 0, parts: 0, rows: 0 };
  await using file = await open(part, isUsable ? 'r+' : 'w');
  let savedAt = performance.now();
  const sink = {
    write: (bytes: Uint8Array) => writeAll(file, bytes, state.bytes),
    async onRows(lastCreatedAt: string) {
      onProgress(state, lastCreatedAt);
      if (performance.now() - savedAt < stateEveryMs) return;
      savedAt = performance.now();
      await writeState(stateFile, state);
    },
  };
  try {
    await retryWhenCut(options, state, () => downloadText(options, state, format, sink));
  } catch (error) {
    await writeState(stateFile, state);
    throw error;
  }
  await file.truncate(state.bytes);
  await file.sync();
  await rename(part, out);
  await removeState(stateFile);
  return state;
}

/**
 * A Parquet file cannot be continued, because its index is at its end. So the export is a folder of files, each complete: a file that
 * is cut is downloaded again.
 */
export async function exportParquet(
  options: ExportFileOptions & { readonly limit: number },
  request: Requests['ExportMatches'],
): Promise<ExportState> {
  const { earshot, out, force, limit, signal, onProgress } = options;
  if (await exists(out)) await removeParts(out, force);
  const folder = `${out}.part`;
  const stateFile = join(folder, 'state.json');
  const stored = await readState(stateFile, { ...request, limit });
  const state = stored ?? { request: { ...request, limit }, bytes: 0, parts: 0, rows: 0 };
  if (stored === null) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const download = async (): Promise<boolean> => {
    const { cursor, through } = state;
    const continued = { ...state.request, ...(cursor && { cursor }), ...(through && { through }) };
    const file = await earshot.exportMatches(continued, { signal });
    state.through ??= file.through;
    const name = join(folder, `part-${String(state.parts + 1).padStart(5, '0')}.parquet`);
    const bytes = await writeWhole(`${name}.new`, file);
    await rename(`${name}.new`, name);
    state.parts += 1;
    state.bytes += bytes;
    if (file.nextCursor !== null) state.cursor = file.nextCursor;
    return file.nextCursor === null;
  };
  while (!(await retryWhenCut(options, state, download))) {
    await writeState(stateFile, state);
    onProgress(state, null);
  }
  await removeState(stateFile);
  await rename(folder, out);
  return state;
}

async function writeWhole(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  await using file = await open(name, 'w');
  let bytes = 0;
  for await (const chunk of chunks) {
    await writeAll(file, chunk, bytes);
    bytes += chunk.length;
  }
  await file.sync();
  return bytes;
}

/** The system may write a part only. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

/** Only a folder that this command has written is replaced. */
async function removeParts(out: string, force: boolean): Promise<void> {
  const names = await readdir(out).catch(() => null);
  if (!force) throw taken(out);
  if (names === null || !names.every((name) => /^part-\d{5}\.parquet$/.test(name)))
    throw usageFailure(`${out} is not a folder of an earlier export. Choose another name.`);
  await rm(out, { recursive: true });
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

function taken(out: string) {
  return usageFailure(`${out} already exists. Choose another name, or replace it with --force.`);
}
