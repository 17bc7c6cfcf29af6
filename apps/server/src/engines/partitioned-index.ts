import type { Database } from './database.ts';

/** A statement that PostgreSQL knows for plain tables only. */
const statementForm = /^create index concurrently (\w+) on (\w+) ([^;]+);/m;

interface PartitionedIndex {
  readonly name: string;
  readonly table: string;
  /** From the columns on. */
  readonly definition: string;
}

/** What `create index concurrently` asks for when its table is partitioned; null for any other statement. */
export async function partitionedIndexOf(
  database: Database,
  statement: string,
): Promise<PartitionedIndex | null> {
  const [, name, table, definition] = statementForm.exec(statement) ?? [];
  if (name === undefined || table === undefined || definition === undefined) return null;
  const row = await database.one<{ kind: string }>(
    `select relkind as kind from pg_class where oid = to_regclass($1)`,
    [table],
  );
  return row?.kind === 'p' ? { name, table, definition } : null;
}

/**
 * An index on the table that has no rows itself, then one on each partition beside its writers, attached when it is
 * there. Partitions that are made meanwhile get theirs by themselves. When it is interrupted it goes on where it was.
 */
export async function createPartitionedIndex(
  database: Database,
  { name, table, definition }: PartitionedIndex,
  lockWaitMs: number,
): Promise<void> {
  const briefly = async (statement: string) => {
    await database.run(`set lock_timeout = ${lockWaitMs}`);
    try {
      await database.run(statement);
    } finally {
      await database.run('reset lock_timeout');
    }
  };
  await briefly(`create index if not exists ${name} on only ${table} ${definition}`);
  for (const { partition, own, valid } of await partitionsWithout(database, { name, table })) {
    if (valid === false) await database.run(`drop index concurrently ${own}`);
    if (valid !== true) await database.run(`create index concurrently ${own} on ${partition} ${definition}`);
    await briefly(`alter index ${name} attach partition ${own}`);
  }
}

interface PartitionRow {
  readonly partition: string;
  /** The name of its index. */
  readonly own: string;
  /** Null while there is none; false when its creation was interrupted. */
  readonly valid: boolean | null;
}

/** Those whose index is not attached yet. */
async function partitionsWithout(
  database: Database,
  { name, table }: Pick<PartitionedIndex, 'name' | 'table'>,
): Promise<PartitionRow[]> {
  return await database.many<PartitionRow>(
    `select partition, own, indisvalid as valid from (
       select inhrelid, inhrelid::regclass::text as partition,
         replace($1, $2 || '_', '') || '_' || inhrelid::regclass::text as own
       from pg_inherits where inhparent = $2::regclass and not inhdetachpending
     ) as partitions
     left join pg_index on indexrelid = to_regclass(own)
     where not exists (
       select from pg_index as attached join pg_inherits as to_ours on to_ours.inhrelid = attached.indexrelid
       where attached.indrelid = partitions.inhrelid and to_ours.inhparent = to_regclass($1)
     )
     order by partition`,
    [name, table],
  );
}
