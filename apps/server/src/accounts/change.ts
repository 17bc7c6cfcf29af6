/** A change as it was asked for. The stores write it down in the transaction of the change itself. */
export interface Change {
  readonly accountId: string;
  /** Id of the key that asked, or `operator`. */
  readonly actor: string;
  readonly operation: string;
  readonly requestId: string | null;
  /** Null when the caller sent no Idempotency-Key. */
  readonly claim: Claim | null;
}

/** The right to answer for an Idempotency-Key: only the latest attempt has it. */
export interface Claim {
  readonly key: string;
  readonly attempt: string;
}
