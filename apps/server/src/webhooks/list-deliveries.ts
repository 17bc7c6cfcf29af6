import type { Delivery } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { noSuchWebhook } from './refusals.ts';
import { findWebhook } from './webhooks.sql.ts';

export function listDeliveries(options: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListDeliveries'> {
  const { database, cursors } = options;
  return async ({ principal: { accountId }, request }) => {
    const { webhook_id } = request;
    const outcome = request.outcome ?? null;
    if (!(await findWebhook(database, accountId, webhook_id))) throw noSuchWebhook();
    const scope = { accountId, filter: ['deliveries', webhook_id, outcome] };
    const read = (page: PageQuery) => readDeliveries(database, webhook_id, { ...page, outcome });
    const { items: deliveries, next_cursor } = await cursors.page(scope, request, read, ({ id }) => id);
    return { deliveries, next_cursor };
  };
}

type DeliveryRow = Omit<
  Delivery,
  'created_at' | 'last_at' | 'first_match_id' | 'last_match_id' | 'notice_id'
> & {
  readonly notice_id: string | null;
  readonly created_at: Date;
  readonly last_at: Date;
  readonly first_position: number;
  readonly last_position: number;
};

export async function readDeliveries(
  database: Database,
  webhookId: string,
  { outcome, before, limit }: PageQuery & { readonly outcome: Delivery['outcome'] | null },
): Promise<Delivery[]> {
  const rows = await database.many<DeliveryRow>(
    `select id, created_at, message_id, attempt, match_count, first_position, last_position, outcome, status, latency_ms,
       message, response, notice_id, times, last_at
     from deliveries where webhook_id = $1 and ($2::text is null or outcome = $2) and ($3::text is null or id < $3)
     order by id desc limit $4`,
    [webhookId, outcome, before, limit],
  );
  return rows.map(({ created_at, last_at, first_position, last_position, notice_id, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    last_at: last_at.toISOString(),
    first_match_id: notice_id === null ? matchIdOf(first_position) : null,
    last_match_id: notice_id === null ? matchIdOf(last_position) : null,
    ...(notice_id !== null && { notice_id }),
  }));
}

const forgetBatch = 5_000;

/** Deletes successful deliveries after a day and all others after 30 days. Returns their number. */
export function forgetDeliveries(database: Database): Promise<number> {
  return database.run(
    `delete from deliveries where id in (
       select id from deliveries
       where (outcome = 'delivered' and created_at < now() - interval '1 day') or created_at < now() - interval '30 days'
       limit $1)`,
    [forgetBatch],
  );
}
