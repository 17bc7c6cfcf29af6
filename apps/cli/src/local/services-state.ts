import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsPorts } from '@earshot/engines';

export interface ServerRecord {
  name: string;
  pid: number;
  /** What proves that the pid is still our server. */
  inCommandLine: string;
}

/** With the passwords of the engines: the file is for its owner only. */
export interface ServicesState {
  databaseUrl: string;
  accountDatabaseUrl: string;
  migrationDatabaseUrl: string;
  natsUrl: string;
  postgresPort: number;
  natsPorts: readonly NatsPorts[];
  servers: readonly ServerRecord[];
}

const stateFile = (dir: string): string => join(dir, 'state.json');

/** Undefined before the first start. */
export async function readState(dir: string): Promise<ServicesState | undefined> {
  let text: string;
  try {
    text = await readFile(stateFile(dir), 'utf8');
  } catch {
    return undefined;
  }
  // Only writeState writes this file, whole; a version of ours with other fields is the one danger.
  const state = JSON.parse(text) as Partial<ServicesState>;
  if (!Array.isArray(state.servers) || state.migrationDatabaseUrl === undefined) {
    throw new Error(`${stateFile(dir)} was written by another version: stop its services and delete it`);
  }
  return state as ServicesState;
}

/** Renamed into place, so that a reader never sees half of it. */
export async function writeState(dir: string, state: ServicesState): Promise<void> {
  const draft = `${stateFile(dir)}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, stateFile(dir));
}
