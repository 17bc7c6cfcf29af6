import type { Platform } from '@earshot/contract';
import type { Attempt } from './endpoint.ts';
import type { EndpointState, Step } from './endpoint-state.ts';

/** The right to send to one endpoint, for a minute. */
export interface Claim {
  readonly lease: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly epoch: number;
  readonly url: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  /** Sealed; all that are valid now, the newest first. */
  readonly secrets: readonly Buffer[];
  readonly state: EndpointState;
  readonly batch: Batch | null;
  /** The last position of the match log at that time: whoever reads later sees everything up to it. */
  readonly logEnd: number;
}

export interface Batch {
  readonly messageId: string;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly matchCount: number;
  /** Before the one that is under way. */
  readonly attempts: number;
  readonly body: string;
}

export interface DeliveryStore {
  /** Endpoints with something to send whose time has come. `troubled` ones and others are claimed apart. */
  claimDue(asked: { nowMs: number; max: number; troubled: boolean }): Promise<Claim[]>;
  /** Keeps the batch. False when the claim is no longer valid: then nothing may be sent. */
  begin(claim: Claim, batch: Batch): Promise<boolean>;
  /** Records the attempt, if there was one, and where the endpoint stands. Ends the claim. */
  finish(claim: Claim, step: Step, sent: { batch: Batch; attempt: Attempt } | null): Promise<void>;
  /** There is nothing for this webhook up to the position. Ends the claim. */
  skipTo(claim: Claim, position: number): Promise<void>;
  release(claim: Claim): Promise<void>;
}
