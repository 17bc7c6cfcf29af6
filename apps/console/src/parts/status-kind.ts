/** The severity of a status. `idle`: nothing is wrong, or it resolves automatically. */
export type StatusKind = 'good' | 'idle' | 'warn' | 'bad';
