import type { Platform } from '@earshot/contract';
import { type BlueskySettings, blueskyPlatform } from './bluesky/platform.ts';
import { type FirehoseSettings, firehosePlatform } from './firehose/platform.ts';
import type { PlatformDescriptor } from './platform.ts';
import { xPlatform } from './x/platform.ts';
import type { XSettings } from './x/settings.ts';

export type UpstreamSettings = XSettings & FirehoseSettings & BlueskySettings;

/** All platforms. To add one, create a folder, a line here, and its id in the contract's list. */
export const platforms: Readonly<Record<Platform, PlatformDescriptor<UpstreamSettings>>> = {
  x: xPlatform,
  firehose: firehosePlatform,
  bluesky: blueskyPlatform,
};
