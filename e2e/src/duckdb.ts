import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The part of `@duckdb/node-api` that the tests use. It is installed only for the nightly run. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(): Promise<{
      connect(): Promise<{
        runAndReadAll(sql: string): Promise<{ getRowObjectsJson(): Record<string, unknown>[] }>;
        closeSync(): void;
      }>;
    }>;
  };
}

/** Runs statements in a new DuckDB, and returns the rows of the last one. */
export async function queryDuckDb(sql: string): Promise<Record<string, unknown>[]> {
  const installed = createRequire(join(import.meta.dirname, '../duckdb/package.json'));
  const { DuckDBInstance }: DuckDb = installed('@duckdb/node-api');
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(`set timezone = 'UTC'; ${sql}`)).getRowObjectsJson();
  } finally {
    connection.closeSync();
  }
}
