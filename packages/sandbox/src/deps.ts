import type { Bluesky } from './bluesky/bluesky.ts';
import type { Clock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Organization } from './firehose/organization.ts';
import type { Judge } from './judge/judge.ts';
import type { Random } from './random.ts';
import type { NextSnowflake } from './snowflake.ts';
import type { XApp } from './x/app.ts';
import type { Archive } from './x/archive.ts';

/** The state and settings that the handlers share. */
export interface Deps {
  /** By token. */
  readonly apps: ReadonlyMap<string, XApp>;
  readonly archive: Archive;
  readonly organization: Organization;
  readonly bluesky: Bluesky;
  readonly judge: Judge;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly nextId: NextSnowflake;
  readonly rateLimits: boolean;
  readonly backlogBytesMax: number;
}
