export { writeContent } from './judge/judge.ts';
export {
  defaultManagementKey,
  defaultTapToken,
  defaultXToken,
  type SandboxOptions,
} from './options.ts';
export { type Sandbox, startSandbox } from './sandbox.ts';
