export type { Nats as NatsServers, NatsNode } from '@earshot/engines';
export { eventually } from './eventually.ts';
export { lengthOf, testNightly } from './nightly.ts';
export { connectSse, type SseConnection, type SseEvent } from './sse-client.ts';
export { startTcpProxy } from './tcp-proxy.ts';
export type { TestDatabase } from './template.ts';
export { createTemplate, type Template } from './template.ts';
export { emptyTemplate, migratedTemplate, startTestNats, startTestPostgres } from './test-engines.ts';
export { skipUnless } from './vitest-skips.ts';
