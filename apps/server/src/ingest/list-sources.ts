import type { Platform, SourceState } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database, Sql } from '../engines/database.ts';
import { isReceiving, receivedUntil, receivingSince, sourceState } from '../slots/receiving.sql.ts';
import { whatToDo } from '../upstream/protocol.ts';
import { isRun } from './source-store.sql.ts';

interface SourceRow {
  readonly id: string;
  readonly platform: Platform;
  readonly state: SourceState;
  readonly since: Date;
  readonly received_until: Date | null;
  readonly message: string | null;
}

/** All accounts get the same answer. A source that no node runs, or that is drained, disappears when it has no rules. */
export function listSources({ database }: { readonly database: Database }): Handler<'ListSources'> {
  return async () => {
    const rows = await readSources(database);
    return {
      sources: rows.map(({ id, platform, state, since, received_until, message }) => ({
        platform,
        name: id.slice(platform.length + 1),
        state,
        since: since.toISOString(),
        received_until: received_until?.toISOString() ?? null,
        what_to_do: whatToDo[state],
        ...(message !== null && state !== 'live' && { message }),
      })),
    };
  };
}

export async function readSources(sql: Sql): Promise<SourceRow[]> {
  return await sql.many<SourceRow>(
    `select id, platform, state_detail as message, ${receivedUntil} as received_until, ${sourceState} as state,
       case when ${isReceiving} or state = 'live' then ${receivingSince} else state_since end as since
     from sources
     where enabled and ${isRun}
       or exists (select from slots join slot_holders on slot_id = slots.id where source_id = sources.id)
     order by platform, id`,
  );
}
