export { eventually } from './eventually.ts';
export { startTcpProxy } from './tcp-proxy.ts';
export type { TestDatabase } from './template.ts';
export { createTemplate, type Template } from './template.ts';
export { startTestNats, testPostgresUrl } from './test-engines.ts';
