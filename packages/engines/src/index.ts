export { compileCache } from './compile-cache.ts';
export { fetchFromDebian } from './debian-program.ts';
export { freePorts } from './free-port.ts';
export { MissingProgram } from './missing-program.ts';
export type { Nats, NatsNode, NatsPorts, NatsSettings } from './nats.ts';
export { startNats } from './nats.ts';
export { findNatsServer } from './nats-server-binary.ts';
export {
  loadServerProgram,
  type ServerReady,
  startSandboxProgram,
  startServerProgram,
} from './own-programs.ts';
export type { Postgres, PostgresUrls } from './postgres.ts';
export { startPostgres } from './postgres.ts';
export { findPostgresBinaries } from './postgres-binaries.ts';
export { isRunning, spawnServer, stopPid } from './process.ts';
export type { Program } from './program.ts';
export { unprivilegedUser } from './unprivileged-user.ts';
