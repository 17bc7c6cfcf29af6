import type { Database, Sql } from '../engines/database.ts';
import type { SecretBox } from './secrets.ts';

/*
 * The secrets of webhooks when EARSHOT_SECRETS_KEY is rotated. Each is replaced by itself, and only if it is still the one that was
 * read: nodes may be running, and owners may rotate theirs.
 */

export interface Reencrypted {
  readonly reencrypted: number;
  /** Sealed with the first key before. */
  readonly current: number;
  /** Webhooks with a secret that none of the keys opens. */
  readonly unreadable: readonly string[];
}

interface SecretRow {
  readonly id: string;
  readonly column: 'secret' | 'previous_secret';
  readonly sealed: Buffer;
}

const webhooksAtOnce = 500;

/** All that are in use, by the ids of their webhooks; a former secret that is no longer valid is never opened again. */
async function* secretsOf(sql: Sql): AsyncGenerator<SecretRow> {
  let after = '';
  for (;;) {
    const rows = await sql.many<{ id: string; secret: Buffer; previous_secret: Buffer | null }>(
      `select id, secret, case when previous_secret_until > now() then previous_secret end as previous_secret
       from webhooks where id > $1 order by id limit $2`,
      [after, webhooksAtOnce],
    );
    for (const { id, secret, previous_secret: previous } of rows) {
      yield { id, column: 'secret', sealed: secret };
      if (previous) yield { id, column: 'previous_secret', sealed: previous };
    }
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}

export async function reencrypt(database: Database, box: SecretBox): Promise<Reencrypted> {
  let [reencrypted, current] = [0, 0];
  const unreadable = new Set<string>();
  for await (const { id, column, sealed } of secretsOf(database)) {
    if (box.isCurrent(id, sealed)) {
      current++;
      continue;
    }
    const secret = opened(box, id, sealed);
    if (secret === null) unreadable.add(id);
    else
      reencrypted += await database.run(
        `update webhooks set ${column} = $3 where id = $1 and ${column} = $2`,
        [id, sealed, box.seal(id, secret)],
      );
  }
  return { reencrypted, current, unreadable: [...unreadable] };
}

/** Without a box none can be read. */
export async function findUnreadable(
  sql: Sql,
  box: SecretBox | null,
): Promise<{ webhooks: number; unreadable: string[] }> {
  const [all, unreadable] = [new Set<string>(), new Set<string>()];
  for await (const { id, sealed } of secretsOf(sql)) {
    all.add(id);
    if (box === null || opened(box, id, sealed) === null) unreadable.add(id);
  }
  return { webhooks: all.size, unreadable: [...unreadable] };
}

function opened(box: SecretBox, id: string, sealed: Buffer): string | null {
  try {
    return box.open(id, sealed);
  } catch {
    return null;
  }
}
