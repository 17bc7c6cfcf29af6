export {
  DEFAULT_MANAGEMENT_KEY,
  DEFAULT_TAP_TOKEN,
  DEFAULT_X_TOKEN,
  type SandboxOptions,
} from './options.ts';
export { type Sandbox, startSandbox } from './sandbox.ts';
