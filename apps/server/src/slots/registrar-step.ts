import type { Platform } from '@earshot/contract';
import type { Events } from '../observability/events.ts';
import type { Bells } from '../runtime/bell.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import type { Lease } from '../runtime/lease.ts';
import type { Pace } from './pace.ts';
import type { RegistrarStore } from './slot-store.ts';
import type { UpstreamRules } from './upstream-rules.ts';

/** What one step of a registrar works with, while it holds the lease of its source. */
export interface RegistrarStep {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly installation: string;
  readonly upstream: UpstreamRules;
  readonly store: RegistrarStore;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
  readonly lease: Lease;
  readonly pace: Pace;
}
