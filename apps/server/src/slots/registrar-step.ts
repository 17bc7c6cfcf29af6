import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Lease } from '../engines/leases.ts';
import type { Events } from '../observability/events.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import type { UpstreamRules } from '../upstream/upstream-rules.ts';
import type { Pace } from './pace.ts';
import type { RegistrarStore } from './slot-store.ts';

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
