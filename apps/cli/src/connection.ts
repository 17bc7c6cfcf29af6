import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createEarshot, type Earshot, type EarshotOptions } from '@earshot/sdk';
import { Failure, usageFailure } from './failure.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The server and the key that the commands use. */
export interface Connection {
  readonly url: string;
  readonly key: string;
}

/** Survives a short interruption, but does not make you wait long for a mistyped address. */
const timeoutMs = 10_000;

/** Creates the client of a command. Without a login, throws a Failure with instructions. */
export async function connect(
  env: Environment,
  options: Pick<EarshotOptions, 'fetch' | 'timeoutMs'> = {},
): Promise<Earshot> {
  return createEarshot({ timeoutMs, ...options, ...(await findConnection(env)) });
}

/** Reads EARSHOT_URL and EARSHOT_API_KEY. If one is missing, reads the file of `earshot login`. */
export async function findConnection(env: Environment): Promise<Connection> {
  const url = env['EARSHOT_URL'];
  const key = env['EARSHOT_API_KEY'];
  if (url && key) return { url: readUrl(url), key };
  const stored = await readStored(env);
  if (url && stored && readUrl(url) !== stored.url) {
    // A key must not be sent to another server.
    throw new Failure(
      'refused',
      `EARSHOT_URL is set, but the stored key belongs to ${stored.url}. Set EARSHOT_API_KEY as well, or log in: earshot login --url ${url}`,
    );
  }
  const found = { url: url ? readUrl(url) : stored?.url, key: key || stored?.key };
  if (found.url && found.key) return { url: found.url, key: found.key };
  throw new Failure(
    'refused',
    `There is no ${found.url ? 'key' : 'server address'}. Log in first with earshot login, or set EARSHOT_URL and EARSHOT_API_KEY.`,
  );
}

/** Normalises an address: http or https, without a slash at the end. */
export function readUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash || url.username) {
    throw usageFailure(`"${text}" is not a server address such as http://127.0.0.1:8080.`);
  }
  return url.href.replace(/\/+$/, '');
}

export function connectionFile(env: Environment): string {
  return join(
    env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'),
    'earshot',
    'connection.json',
  );
}

/** Only the owner may read the file. It is renamed into place, which replaces a file with other permissions. */
export async function storeConnection(env: Environment, { url, key }: Connection): Promise<string> {
  const file = connectionFile(env);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify({ url, key }, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
  return file;
}

/** Returns whether there was a stored connection. */
export async function forgetConnection(env: Environment): Promise<boolean> {
  const isStored = (await readText(connectionFile(env))) !== undefined;
  await rm(connectionFile(env), { force: true });
  return isStored;
}

async function readStored(env: Environment): Promise<Connection | undefined> {
  const file = connectionFile(env);
  const text = await readText(file);
  if (text === undefined) return undefined;
  const { url, key } = parse(text);
  if (typeof url === 'string' && typeof key === 'string') return { url, key };
  throw new Failure('failed', `${file} is not valid. Delete it and log in again with earshot login.`);
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): { url?: unknown; key?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
