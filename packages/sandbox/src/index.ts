export type { TapOptions } from './firehose/tap.ts';
export {
  DEFAULT_MANAGEMENT_KEY,
  DEFAULT_TAP_TOKEN,
  DEFAULT_X_TOKEN,
  type FeedRates,
  type SandboxOptions,
} from './options.ts';
export { type Sandbox, startSandbox } from './sandbox.ts';
export type { XAppOptions, XPlan } from './x/app.ts';
