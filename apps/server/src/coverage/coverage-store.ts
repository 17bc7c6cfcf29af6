import type { Platform } from '@earshot/contract';
import type { Ledger } from './ledger.ts';

/** Reads the ledger. Bounded: of each source at most some thousand rows are read, the newest in the window. */
export interface CoverageStore {
  read(asked: CoverageAsked): Promise<Ledger>;
}

export interface CoverageAsked {
  readonly accountId: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly from: Date;
  readonly to: Date;
}
