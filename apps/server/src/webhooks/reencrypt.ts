import type { Database, Sql } from '../engines/database.ts';
import type { SecretBox } from './secrets.ts';

/*
 * Re-encrypts the secrets of webhooks and archives when EARSHOT_SECRETS_KEY is rotated. Each secret is replaced individually, and only if
 * it has not changed: nodes may be running, and owners may rotate secrets.
 */

export interface ReencryptionResult {
  readonly reencrypted: number;
  /** Already sealed with the first key. */
  readonly current: number;
  /** Webhooks and archives with a secret that no key decrypts. */
  readonly unreadable: readonly string[];
}

interface SecretRow {
  readonly table: 'webhooks' | 'archives';
  readonly id: string;
  readonly column: 'secret' | 'previous_secret';
  readonly sealed: Buffer;
}

const rowsAtOnce = 500;

/** All valid secrets, ordered by id. Expired previous secrets are excluded. */
async function* secretsOf(sql: Sql): AsyncGenerator<SecretRow> {
  yield* secretsIn(sql, 'webhooks', 'case when previous_secret_until > now() then previous_secret end');
  yield* secretsIn(sql, 'archives', 'null::bytea');
}

async function* secretsIn(
  sql: Sql,
  table: SecretRow['table'],
  previousSecret: string,
): AsyncGenerator<SecretRow> {
  let after = '';
  for (;;) {
    const rows = await sql.many<{ id: string; secret: Buffer; previous_secret: Buffer | null }>(
      `select id, secret, ${previousSecret} as previous_secret from ${table} where id > $1 order by id limit $2`,
      [after, rowsAtOnce],
    );
    for (const { id, secret, previous_secret: previous } of rows) {
      yield { table, id, column: 'secret', sealed: secret };
      if (previous) yield { table, id, column: 'previous_secret', sealed: previous };
    }
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}

export async function reencrypt(database: Database, box: SecretBox): Promise<ReencryptionResult> {
  let [reencrypted, current] = [0, 0];
  const unreadable = new Set<string>();
  for await (const { table, id, column, sealed } of secretsOf(database)) {
    if (box.isCurrent(id, sealed)) {
      current++;
      continue;
    }
    const secret = opened(box, id, sealed);
    if (secret === null) unreadable.add(id);
    else
      reencrypted += await database.run(
        `update ${table} set ${column} = $3 where id = $1 and ${column} = $2`,
        [id, sealed, box.seal(id, secret)],
      );
  }
  return { reencrypted, current, unreadable: [...unreadable] };
}

/** Without a box, all are unreadable. */
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
