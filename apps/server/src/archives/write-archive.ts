import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ArchiveFormat, ExportedMatch } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import { parquetBytes } from '../exports/parquet-format.ts';
import { readRows, readRuleNames } from '../exports/read-rows.ts';
import { ndjsonLine } from '../exports/text-formats.ts';
import type { Logger } from '../observability/logger.ts';
import type { MatchReader } from '../readers/match-reader.sql.ts';
import type { Views } from '../readers/views.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { matchIdOf } from '../runtime/ids.ts';
import type { SecretBox } from '../webhooks/secrets.ts';
import type {
  ArchiveStore,
  LeasedArchive,
  PlannedObject,
  Progress,
  WrittenObject,
} from './archive-store.sql.ts';
import { sha256 } from './sign-v4.ts';
import { type Storage, StorageFailed } from './storage.ts';

export interface WriteArchiveOptions {
  readonly database: Database;
  readonly store: ArchiveStore;
  readonly reader: Pick<MatchReader, 'read'>;
  readonly views: Pick<Views, 'view'>;
  readonly storage: Storage;
  readonly secretBox: SecretBox;
  readonly bells: Bells;
  readonly log: Logger;
  readonly checkpoint: Checkpoint;
  readonly random: () => number;
}

const types: Readonly<Record<ArchiveFormat, string>> = {
  'ndjson.gz': 'application/gzip',
  parquet: 'application/vnd.apache.parquet',
};

/** An object is in memory as a whole. An hour with more has several. */
const objectRowsMax = 10_000;
const objectCharactersMax = 16 * 1024 * 1024;

const retryMsMin = 60_000;
const retryMsMax = 3_600_000;

/**
 * Writes the next object of a leased archive, or only the manifest if there are no matches. The positions of an object are stored
 * before it is written and are its name. So an attempt after a crash, wherever that was, replaces the same object and the same manifest.
 * The position of the archive moves last.
 */
export function createWriteArchive(options: WriteArchiveOptions) {
  const { store, checkpoint, bells, log, random } = options;
  return async (leased: LeasedArchive): Promise<void> => {
    const { id: archiveId, accountId, failures } = leased;
    try {
      const progress = await write(options, leased);
      checkpoint('archive.listed');
      if (await store.succeed(leased, progress)) bells.ring('notices');
      checkpoint('archive.recorded');
      const { object } = progress;
      log.info(
        { archiveId, accountId, matches: object?.matches ?? 0, bytes: object?.bytes ?? 0 },
        'archive written',
      );
    } catch (error) {
      if (!(error instanceof StorageFailed)) throw error;
      const { message: problem } = error;
      const retryInMs = Math.min(retryMsMax, retryMsMin * 2 ** failures) * (0.8 + 0.4 * random());
      if (await store.fail(leased, { problem, retryInMs })) bells.ring('notices');
      log.warn({ archiveId, accountId, problem }, 'an archive could not be written');
    }
  };
}

async function write(options: WriteArchiveOptions, leased: LeasedArchive): Promise<Progress> {
  const { store, checkpoint } = options;
  const { position, coveredUntil, hour } = leased;
  const planned = await store.planned(leased);
  if (planned === null && hour === null)
    return await writeManifest(options, leased, { object: null, position, coveredUntil });
  const through = planned?.last ?? hour?.lastPosition ?? position;
  const found = await readObject(options, leased, { through, isWhole: planned !== null });
  if (planned === null && found.rows.length === 0) {
    const end = hour?.end ?? coveredUntil;
    return await writeManifest(options, leased, { object: null, position: through, coveredUntil: end });
  }
  const plan = planned ?? { hour: coveredUntil, first: position + 1, last: found.through };
  if (planned === null) await store.plan(leased, plan);
  checkpoint('archive.planned');
  const body = await encode(leased.format, found.rows);
  await put(options, leased, { name: nameOf(leased, plan), type: types[leased.format], body });
  checkpoint('archive.put');
  const object = { ...plan, matches: found.rows.length, bytes: body.length, sha256: sha256(body) };
  // The next attempt finds the rest of the hour, or that there is none.
  return await writeManifest(options, leased, { object, position: plan.last, coveredUntil });
}

/** Hidden matches too: a mute may be deleted, and an object is not written again. */
async function readObject(
  { database, reader, views }: WriteArchiveOptions,
  { accountId, ruleIds, position }: LeasedArchive,
  { through, isWhole }: { readonly through: number; readonly isWhole: boolean },
) {
  const ruleNames = await readRuleNames(database.forAccount(accountId), accountId);
  const filter = { accountId, ruleIds, platform: null, since: null, until: null };
  const view = { relevance: 'all', hidden: 'include' } as const;
  const rows: ExportedMatch[] = [];
  let characters = 0;
  let reached = position;
  for await (const page of readRows(
    { read: reader.read, views, ruleNames },
    { ...filter, after: position, through, view },
  )) {
    for (const row of page.rows) {
      rows.push(row);
      characters += row.raw.length + (row.text?.length ?? 0);
    }
    reached = page.through;
    if (!isWhole && (rows.length >= objectRowsMax || characters >= objectCharactersMax)) break;
  }
  return { rows, through: reached };
}

const compress = promisify(gzip);

async function encode(format: ArchiveFormat, rows: readonly ExportedMatch[]): Promise<Uint8Array> {
  if (format === 'ndjson.gz') return await compress(rows.map(ndjsonLine).join(''));
  const chunks: Uint8Array[] = [];
  for await (const chunk of parquetBytes(Readable.from([{ rows }]))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** Such as `matches/dt=2026-11-19/hour=20/mat_0000000002rs-mat_0000000003aa.ndjson.gz`. */
function nameOf({ prefix, format }: LeasedArchive, { hour, first, last }: PlannedObject): string {
  const hours = hour.toISOString().slice(11, 13);
  return `${prefix}/dt=${dayOf(hour)}/hour=${hours}/${matchIdOf(first)}-${matchIdOf(last)}.${format}`;
}

/** The manifest of a day lists what is in the bucket, also what has just been written. Returns the progress. */
async function writeManifest(
  options: WriteArchiveOptions,
  leased: LeasedArchive,
  progress: Progress,
): Promise<Progress> {
  const day = new Date(`${dayOf(leased.coveredUntil)}T00:00:00.000Z`);
  const stored = await options.store.objectsOf(leased, day);
  const written: WrittenObject[] = [...stored, ...(progress.object ? [progress.object] : [])];
  const manifest = {
    covered_through: progress.coveredUntil.toISOString(),
    last_id: matchIdOf(progress.position),
    objects: written.map((object) => ({
      name: nameOf(leased, object),
      first_id: matchIdOf(object.first),
      last_id: matchIdOf(object.last),
      matches: object.matches,
      bytes: object.bytes,
      sha256: object.sha256,
    })),
  };
  const body = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const name = `${leased.prefix}/dt=${dayOf(day)}/manifest.json`;
  await put(options, leased, { name, type: 'application/json', body });
  return progress;
}

async function put(
  { storage, secretBox }: WriteArchiveOptions,
  leased: LeasedArchive,
  object: Parameters<Storage['put']>[1],
): Promise<void> {
  const secretAccessKey = openSecret(secretBox, leased);
  await storage.put({ ...leased, secretAccessKey }, object, new Date(leased.nowMs()));
}

function openSecret(secretBox: SecretBox, { id, secret }: LeasedArchive): string {
  try {
    return secretBox.open(id, secret);
  } catch (cause) {
    throw new StorageFailed('The service cannot read the secret access key. Create the archive again.', {
      cause,
    });
  }
}
