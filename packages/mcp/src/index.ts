export { createMcpOverHttp } from './http.ts';
export { serveMcpOverStdio } from './stdio.ts';
