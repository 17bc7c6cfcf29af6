import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsPorts } from '@earshot/engines';

export interface ServerRecord {
  name: string;
  pid: number;
  /** A part of its command line, to check that the pid still belongs to this server. */
  inCommandLine: string;
}

/** Only the owner may read the file, because it has the passwords of PostgreSQL and NATS. */
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
  // Only writeState writes this file, but another version may have written other fields.
  const state = JSON.parse(text) as Partial<ServicesState>;
  if (!Array.isArray(state.servers) || state.migrationDatabaseUrl === undefined) {
    throw new Error(
      `${stateFile(dir)} was written by another version. Stop its services and delete the file.`,
    );
  }
  return state as ServicesState;
}

/** Renames the file into place, so that readers never see a partial file. */
export async function writeState(dir: string, state: ServicesState): Promise<void> {
  const draft = `${stateFile(dir)}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, stateFile(dir));
}
