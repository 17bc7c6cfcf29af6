import { randomBytes, randomUUID } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { ArchiveFormat, RequestOf } from '@earshot/contract';
import { migratedTemplate } from '@earshot/testkit';
import { parquetReadObjects } from 'hyparquet';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createArchiveStore } from '../src/archives/archive-store.sql.ts';
import { createArchive } from '../src/archives/create-archive.ts';
import { deleteArchive, listArchives } from '../src/archives/manage-archives.ts';
import { createStorage, type Storage } from '../src/archives/storage.ts';
import { createWriteArchive } from '../src/archives/write-archive.ts';
import type { Database } from '../src/engines/database.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import { archiveCheckpoints, type CheckpointLabel } from '../src/runtime/checkpoint.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { matchIdOf } from '../src/runtime/ids.ts';
import { createUrlProblem } from '../src/webhooks/public-address.ts';
import { createSecretBox } from '../src/webhooks/secrets.ts';
import { callOf } from './call-of.ts';
import { changeBy } from './changes.ts';
import { startCheckedStorage } from './checked-storage.ts';
import { createLocalBells } from './local-bells.ts';
import { mortal } from './mortal-node.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules } from './support.ts';

const template = migratedTemplate();
const keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a-secret/that+must=stay', region: 'eu-central-1' };
const secretBox = createSecretBox(randomBytes(32));
let stack: AsyncDisposableStack;
let database: Database;
let server: Awaited<ReturnType<typeof startCheckedStorage>>;
let logged: string[];

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 3);
  server = stack.use(await startCheckedStorage(keys));
  logged = [];
  thisHourMs = Math.floor(Date.now() / hourMs) * hourMs;
});
afterEach(() => stack.disposeAsync());

const hourMs = 3_600_000;
/** Of the hour in which the test has begun. */
let thisHourMs: number;
const hourStart = (hoursAgo: number) => new Date(thisHourMs - hoursAgo * hourMs);

async function create(changes: Partial<RequestOf<'CreateArchive'>> = {}) {
  const options = {
    database,
    urlProblem: createUrlProblem({ allowInsecure: true }),
    secretBox,
    contact: 'you',
  };
  const request = {
    name: 'lake',
    endpoint: server.endpoint,
    region: keys.region,
    bucket: 'bucket',
    prefix: 'a/b=c',
    access_key_id: keys.accessKeyId,
    secret_access_key: keys.secretAccessKey,
    format: 'ndjson.gz',
    ...changes,
  } as const;
  return await createArchive(options)({
    ...callOf('CreateArchive', request),
    change: changeBy('acc_1', null, 'CreateArchive'),
  });
}

/** Begins the archive that many hours ago, with the first match. */
const beginAt = (hoursAgo: number) =>
  database.run('update archives set position = 0, covered_until = $1, next_attempt_at = now()', [
    hourStart(hoursAgo),
  ]);

let events = 0;
/** Stores matches of these rules as if they had been stored in that hour. */
async function writeIn(hoursAgo: number, rules: readonly number[]): Promise<void> {
  const row = await database.one<{ last: number }>('select last_position as last from match_log');
  const posts = rules.map((rule) => ({ ...xEvent(events++), rule }));
  if (posts.length === 0) return;
  await createMatchStore(database).write(
    posts,
    posts.map((post) => xMatch(post, `rule_${post.rule}`)),
    [],
    [],
  );
  await database.run('update matches set created_at = $2 where position > $1', [
    row?.last,
    new Date(hourStart(hoursAgo).getTime() + hourMs / 2),
  ]);
  await database.run('delete from match_times');
  await database.run(
    `insert into match_times (began, first_position, last_position)
     select began_of(created_at), min(position), max(position) from matches group by 1`,
  );
}

interface NodeOptions {
  readonly dies?: (label: CheckpointLabel) => boolean;
  readonly put?: (put: Storage['put']) => Storage['put'];
}

/** Writes what is due, as a node does, until nothing is due or the node is killed. */
async function runNode({ dies = () => false, put = (own) => own }: NodeOptions = {}): Promise<void> {
  const node = mortal(dies);
  const store = node.store(createArchiveStore(database));
  await using storage = createStorage({
    resolve: async () => ['127.0.0.1'],
    allowInsecure: true,
    timeoutMs: 5_000,
  });
  const write = createWriteArchive({
    database,
    store,
    reader: createMatchReader(database),
    views: createViews({ database, hasJudge: false }),
    storage: { ...storage, put: put(storage.put) },
    secretBox,
    bells: createLocalBells(),
    log: pino({ base: null }, { write: (line) => void logged.push(line) }),
    checkpoint: (label) => node.checkpoint(label),
    random: () => 0.5,
  });
  for (;;) {
    const due = await store.leaseDue(4).catch(() => []);
    if (due.length === 0) return;
    for (const leased of due)
      await write(leased).catch((error: Error) => expect(error.message).toMatch(/killed|dead/));
  }
}

/** As when the lease of a killed node has expired, and after the pause behind a failure. */
const passTime = () =>
  database.run(
    `update archives set lease_until = '-infinity', next_attempt_at = least(next_attempt_at, now())`,
  );

const objectNames = () =>
  [...server.objects.keys()].filter((name) => !name.endsWith('manifest.json')).toSorted();

async function idsIn(name: string): Promise<unknown[]> {
  const body = server.objects.get(name) ?? Buffer.alloc(0);
  if (name.endsWith('.gz')) {
    const lines = gunzipSync(body).toString().split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line).id);
  }
  const compressors = { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes)) };
  const rows = await parquetReadObjects({ file: new Uint8Array(body).buffer, compressors });
  return rows.map(({ id }) => id);
}

const archived = async () => (await Promise.all(objectNames().map(idsIn))).flat().map(String).toSorted();

async function stored(where = 'true'): Promise<string[]> {
  const rows = await database.many<{ position: number }>(
    `select position from matches where ${where} order by position`,
  );
  return rows.map(({ position }) => matchIdOf(position));
}

/** The objects of all manifests, and the latest time that they cover. */
function manifests() {
  const names = [...server.objects.keys()].filter((name) => name.endsWith('/manifest.json')).toSorted();
  const parsed = names.map((name) => JSON.parse(String(server.objects.get(name))));
  return {
    objects: parsed.flatMap(({ objects }) => objects),
    coveredThrough: parsed.at(-1)?.covered_through,
  };
}

const dated = (hoursAgo: number) => {
  const at = hourStart(hoursAgo).toISOString();
  return `dt=${at.slice(0, 10)}/hour=${at.slice(11, 13)}`;
};

describe('an archive', () => {
  test.for(['ndjson.gz', 'parquet'] as const)(
    'has an object per hour with matches, named by positions, as %s',
    async (format: ArchiveFormat) => {
      await create({ format });
      await writeIn(4, [1, 2, 3]);
      await writeIn(2, [1]);
      await writeIn(0, [2]);
      await beginAt(5);
      await runNode();
      // The current hour is not over, and the last one perhaps not settled.
      const through = Date.parse(manifests().coveredThrough) === hourStart(0).getTime() ? 0 : 1;
      expect(objectNames()).toEqual(
        [
          `bucket/a/b=c/${dated(4)}/${matchIdOf(1)}-${matchIdOf(3)}.${format}`,
          `bucket/a/b=c/${dated(2)}/${matchIdOf(4)}-${matchIdOf(4)}.${format}`,
        ].toSorted(),
      );
      expect(await archived()).toEqual(await stored('position <= 4'));
      expect(manifests()).toMatchObject({
        coveredThrough: hourStart(through).toISOString(),
        objects: [
          {
            first_id: matchIdOf(1),
            last_id: matchIdOf(3),
            matches: 3,
            sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
          { first_id: matchIdOf(4), last_id: matchIdOf(4), matches: 1 },
        ],
      });
      for (const [index, { name }] of server.puts.entries())
        if (name.endsWith(format))
          expect(server.puts[index + 1]?.body.toString()).toContain(name.slice('bucket/'.length));
      const { archives } = await listArchives({ database, cursors: createCursors(Buffer.alloc(32)) })(
        callOf('ListArchives', { limit: 10 }),
      );
      expect(archives).toMatchObject([{ state: 'active', covered_through: manifests().coveredThrough }]);
    },
  );

  test('writes only matches of its rules, and hidden ones too', async () => {
    await create({ rule_ids: ['rule_1', 'rule_2'] });
    await database.run(
      `insert into mutes (id, account_id, rule_id, field, value) values ('mut_1', 'acc_1', 'rule_2', 'phrase', 'post')`,
    );
    await writeIn(3, [1, 2, 3, 1]);
    await beginAt(4);
    await runNode();
    expect(await archived()).toEqual(await stored(`rule_id in ('rule_1', 'rule_2')`));
  });

  test('shows within seconds that a key is wrong, raises a notice, and recovers', async () => {
    const { id } = await create({ secret_access_key: 'wrong' });
    await writeIn(2, [1]);
    await beginAt(3);
    await runNode();
    expect(server.refusals).toEqual(['SignatureDoesNotMatch']);
    const list = listArchives({ database, cursors: createCursors(Buffer.alloc(32)) });
    const states = async () => (await list(callOf('ListArchives', { limit: 10 }))).archives;
    expect(await states()).toMatchObject([
      { state: 'failing', message: 'The storage answered 403 (SignatureDoesNotMatch).' },
    ]);
    const notices = () =>
      database.many<{ type: string; open: boolean }>(
        `select type, resolved_at is null as open from notices where subject_id = $1`,
        [id],
      );
    expect(await notices()).toEqual([]);
    await database.run(`update archives set failing_since = now() - interval '16 minutes'`);
    await passTime();
    await runNode();
    expect(await notices()).toEqual([{ type: 'archive.failing', open: true }]);
    await database.run('update archives set secret = $1', [secretBox.seal(id, keys.secretAccessKey)]);
    await passTime();
    await runNode();
    expect(await notices()).toEqual([{ type: 'archive.failing', open: false }]);
    expect(await states()).toMatchObject([{ state: 'active', message: null }]);
    expect(await archived()).toEqual(await stored());
  });

  test('waits for a storage that is unreachable', async () => {
    await create({ endpoint: 'http://127.0.0.1:1' });
    await runNode();
    const row = await database.one<{ problem: string; waits: boolean }>(
      `select problem, next_attempt_at > now() + interval '40 seconds' as waits from archives`,
    );
    expect(row).toEqual({ problem: 'The connection to the storage failed (ECONNREFUSED).', waits: true });
  });

  test('refuses an endpoint that is not public, and the prefix of another archive', async () => {
    await expect(create({ endpoint: 'https://169.254.169.254' })).rejects.toThrow(
      'endpoint: Must be on the public internet.',
    );
    await expect(create({ endpoint: 'https://s3.example.com/bucket' })).rejects.toThrow(
      'Must be an address without a path.',
    );
    await create();
    await expect(create({ name: 'other' })).rejects.toThrow(
      'The archive "lake" writes to the same prefix of this bucket.',
    );
    const call = callOf('DeleteArchive', { archive_id: 'arc_1' }, 'acc_1');
    await expect(deleteArchive({ database })(call)).rejects.toThrow('The archive does not exist.');
    // An internal name: the guard of webhooks checks the address at each connection.
    await using storage = createStorage({ resolve: async () => ['10.0.0.1'], allowInsecure: false });
    const put = storage.put(
      { ...keys, endpoint: 'https://storage.example.com', bucket: 'bucket' },
      { name: 'a', type: 'a/b', body: Buffer.from('') },
      new Date(),
    );
    await expect(put).rejects.toThrow(
      'The endpoint is not allowed: the host does not exist or is not on the public internet.',
    );
  });

  test('never shows its secret: not in answers, logs, the audit log or the database', async () => {
    const created = await create();
    await writeIn(2, [1]);
    await beginAt(3);
    server.failOn((name) => name.endsWith('.gz'));
    await runNode();
    server.failOn(null);
    await passTime();
    await runNode();
    const { archives } = await listArchives({ database, cursors: createCursors(Buffer.alloc(32)) })(
      callOf('ListArchives', { limit: 10 }),
    );
    const removed = await deleteArchive({ database })({
      ...callOf('DeleteArchive', { archive_id: created.id }),
      change: changeBy('acc_1', null, 'DeleteArchive'),
    });
    const rows = await database.many('select * from audit');
    const everything = JSON.stringify([created, archives, removed, rows, logged]);
    expect(rows).toHaveLength(2);
    expect(logged.join('')).toContain('The storage answered 500 (InternalError).');
    expect(everything).toContain(keys.accessKeyId);
    expect(everything).not.toContain(keys.secretAccessKey);
  });
});

describe('after a crash or a failure, the same objects are written', () => {
  const prepare = async () => {
    await create();
    await writeIn(3, [1, 2]);
    await beginAt(4);
  };
  /** Every match is in one object, and every object in the manifest. */
  const exactness = async () => ({
    isComplete: JSON.stringify(await archived()) === JSON.stringify(await stored()),
    isListed:
      JSON.stringify(
        manifests()
          .objects.map(({ name }) => `bucket/${name}`)
          .toSorted(),
      ) === JSON.stringify(objectNames()),
  });
  const exact = { isComplete: true, isListed: true };

  test.for(archiveCheckpoints)('a node that is killed at %s', async (label) => {
    await prepare();
    let killed = 0;
    const dies = (at: CheckpointLabel) => at === label && ++killed > 0;
    await runNode({ dies });
    // It was committed late, and would belong to the planned object.
    await writeIn(3, [3]);
    await passTime();
    await runNode({ dies });
    await writeIn(2, [1, 2]);
    await passTime();
    await runNode();
    expect(killed).toBe(2);
    expect(await exactness()).toEqual(exact);
  });

  test.for(['.gz', 'manifest.json'])('a storage that fails after it has received the %s', async (end) => {
    await prepare();
    let failures = 0;
    server.failOn((name) => name.endsWith(end) && ++failures <= 2);
    for (const late of [[3], [1], []]) {
      await runNode();
      await writeIn(3, late);
      await passTime();
    }
    await runNode();
    expect(failures).toBeGreaterThan(2);
    expect(await exactness()).toEqual(exact);
  });

  test('control: with random names, a crash doubles matches', async () => {
    await prepare();
    const put =
      (own: Storage['put']): Storage['put'] =>
      (bucket, object, now) =>
        own(bucket, { ...object, name: object.name.replace(/mat_\w+-mat_\w+/, randomUUID()) }, now);
    await runNode({ dies: (at) => at === 'archive.put', put });
    await passTime();
    await runNode({ put });
    expect(await exactness()).toEqual({ isComplete: false, isListed: false });
  });
});
