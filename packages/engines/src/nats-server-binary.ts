import { join, resolve } from 'node:path';
import { fetchFromDebian } from './debian-program.ts';
import { MissingProgram } from './missing-program.ts';
import { outputOf } from './process.ts';

/** Older servers can lose acknowledged messages. */
const oldestVersion = [2, 14, 5] as const;
/** Debian's suite with a version that is new enough. */
const debianSuite = 'forky';

interface FindOptions {
  /** Where a downloaded binary is kept. */
  cacheDir: string;
  /** A binary that the operator configured: used or refused, never replaced by another. */
  configured?: string | undefined;
  log?: (progress: string) => void;
}

/** The path of a nats-server that is new enough: the configured one, on PATH, in the cache, or downloaded from Debian. */
export async function findNatsServer(options: FindOptions): Promise<string> {
  if (options.configured !== undefined) {
    if (await isNewEnough(options.configured)) return options.configured;
    throw new Error(
      `${options.configured} is not a nats-server of version ${oldestVersion.join('.')} or newer`,
    );
  }
  const cached = join(resolve(options.cacheDir), 'nats-server');
  for (const candidate of [await outputOf('/bin/sh', ['-c', 'command -v nats-server']), cached]) {
    if (candidate !== undefined && (await isNewEnough(candidate))) return candidate;
  }
  options.log?.('Fetching nats-server from Debian (nothing is installed)');
  try {
    await fetchFromDebian({
      suite: debianSuite,
      package: 'nats-server',
      file: 'usr/sbin/nats-server',
      target: cached,
    });
  } catch (error) {
    throw new MissingProgram(
      `nats-server ${oldestVersion.join('.')} or newer is missing, and apt could not fetch it from Debian.
  macOS: brew install nats-server
  Other systems: download it from https://nats.io/download, and put it on PATH or set EARSHOT_NATS_SERVER to its path`,
      { cause: error },
    );
  }
  if (await isNewEnough(cached)) return cached;
  throw new Error(
    `Debian ${debianSuite} has no nats-server ${oldestVersion.join('.')} or newer for this machine`,
  );
}

async function isNewEnough(binary: string): Promise<boolean> {
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec((await outputOf(binary, ['--version'])) ?? '');
  if (found === null) return false;
  const firstDifference = found
    .slice(1)
    .map((part, index) => Number(part) - (oldestVersion[index] ?? 0))
    .find((d) => d !== 0);
  return (firstDifference ?? 0) >= 0;
}
