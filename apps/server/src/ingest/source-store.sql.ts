import type { Platform } from '@earshot/contract';
import { createCoverageIntervals } from '../coverage/coverage-intervals.sql.ts';
import type { Database } from '../engines/database.ts';
import type { SourceStore } from './source-store.ts';

export interface ConfiguredSource {
  readonly id: string;
  readonly platform: Platform;
  /** The most that is placed on it; less where the upstream turns out to take less. */
  readonly capacity: number;
  /** Nothing new is placed on it, and its slots move to other sources. */
  readonly draining?: boolean;
}

export interface SourceRegistry {
  /** Writes down which sources this node is configured with, so that every node can place slots on them. */
  announce(sources: readonly ConfiguredSource[]): Promise<void>;
}

export function createSourceStore(database: Database): SourceStore & SourceRegistry {
  return {
    ...createCoverageIntervals(database),
    async announce(sources) {
      for (const { id, platform, capacity, draining = false } of sources) {
        await database.run(
          `insert into sources (id, platform, capacity, configured_capacity, enabled) values ($1, $2, $3, $3, $4)
           on conflict (id) do update
             set configured_capacity = excluded.configured_capacity,
               capacity = least(excluded.configured_capacity, sources.learnt_capacity),
               enabled = excluded.enabled, updated_at = now()`,
          [id, platform, capacity, !draining],
        );
      }
    },
  };
}
