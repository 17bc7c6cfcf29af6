import type { Platform, SourceState } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
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

/**
 * All accounts get the same answer. After a crash, the `live_until` of a source passes and it is shown as stopped. A source that no node
 * runs, or that is drained, disappears when it has no rules.
 */
export function listSources({ database }: { readonly database: Database }): Handler<'ListSources'> {
  return async () => {
    const rows = await database.many<SourceRow>(
      `select id, platform, state_detail as message, received.until as received_until,
         case when state = 'live' and live_until < now() then 'stopped' else state end as state,
         case when state = 'live' and live_until < now() then live_until else state_since end as since
       from sources left join lateral (
         select proven_until as until from coverage where source_id = sources.id order by from_at desc limit 1
       ) as received on true
       where enabled and ${isRun}
         or exists (select from slots join slot_holders on slot_id = slots.id where source_id = sources.id)
       order by platform, id`,
    );
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
