import type { Scope } from '@earshot/contract';
import type { PlanName } from './plans.ts';

/** Who is asking: the account comes from the key and never from the request. */
export interface Principal {
  readonly accountId: string;
  readonly keyId: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
}
