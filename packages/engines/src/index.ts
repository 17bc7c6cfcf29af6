export type { Nats, NatsNode, NatsPorts } from './nats.ts';
export { startNats } from './nats.ts';
export { findNatsServer } from './nats-server-binary.ts';
export type { Postgres } from './postgres.ts';
export { startPostgres } from './postgres.ts';
export type { Lifetime } from './process.ts';
export { isRunning, stopPid } from './process.ts';
