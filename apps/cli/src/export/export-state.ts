import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Requests } from '@earshot/sdk';

/** How far an export is. Stored beside its file, so that the same command continues it. */
export interface ExportState {
  readonly request: Requests['ExportMatches'];
  /** Id of the last match of the export. */
  through?: string;
  /** Id of the last match that was written. */
  cursor?: string;
  /** Complete rows of the file, or complete files of Parquet. */
  bytes: number;
  parts: number;
  rows: number;
}

/** The state of an earlier run of the same command; null if there is none. */
export async function readState(
  file: string,
  request: Requests['ExportMatches'],
): Promise<ExportState | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const state: ExportState = JSON.parse(text);
    return JSON.stringify(state.request) === JSON.stringify(request) ? state : null;
  } catch {
    return null;
  }
}

export async function writeState(file: string, state: ExportState): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
}

export async function removeState(file: string): Promise<void> {
  await rm(file, { force: true });
}
