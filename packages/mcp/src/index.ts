export { createMcpOverHttp, scopeOfCall } from './http.ts';
export { serveMcpOverStdio } from './stdio.ts';
