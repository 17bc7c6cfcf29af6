import type { Delivery } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { matchIdOf } from '../readers/to-match.ts';
import type { DeliveryReader } from './webhook-store.ts';

const forgetBatch = 5_000;

type DeliveryRow = Omit<Delivery, 'at' | 'first_match_id' | 'last_match_id'> & {
  readonly at: Date;
  readonly first_position: number;
  readonly last_position: number;
};

export function createDeliveryLog(database: Database): DeliveryReader & { forgetSome(): Promise<number> } {
  return {
    async page(webhookId, { outcome, before, limit }) {
      const rows = await database.many<DeliveryRow>(
        `select id, at, message_id, attempt, match_count, first_position, last_position, outcome, status, latency_ms,
           detail, response
         from deliveries where webhook_id = $1 and ($2::text is null or outcome = $2) and ($3::text is null or id < $3)
         order by id desc limit $4`,
        [webhookId, outcome, before, limit],
      );
      return rows.map(({ at, first_position, last_position, ...row }) => ({
        ...row,
        at: at.toISOString(),
        first_match_id: matchIdOf(first_position),
        last_match_id: matchIdOf(last_position),
      }));
    },
    forgetSome: () =>
      database.run(
        `delete from deliveries where id in (
           select id from deliveries
           where (outcome = 'delivered' and at < now() - interval '1 day') or at < now() - interval '30 days'
           limit $1)`,
        [forgetBatch],
      ),
  };
}
