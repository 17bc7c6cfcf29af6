export { eventually } from './eventually.ts';
export type { TcpProxy } from './tcp-proxy.ts';
export { startTcpProxy } from './tcp-proxy.ts';
export type { Template, TestDatabase } from './template.ts';
export { createTemplate } from './template.ts';
export { startTestNats, testPostgresUrl } from './test-engines.ts';
