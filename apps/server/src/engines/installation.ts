import type { Database } from './database.ts';

export interface Installation {
  readonly id: string;
  readonly cursorSecret: Buffer;
}

export async function readInstallation(database: Database): Promise<Installation> {
  const row = await database.one<{ id: string; cursor_secret: Buffer }>(
    'select id, cursor_secret from installation',
  );
  if (!row) throw new Error('the database has no installation row: was it migrated?');
  return { id: row.id, cursorSecret: row.cursor_secret };
}
