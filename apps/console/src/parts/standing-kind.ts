/** How something is doing; `idle`: as it should be, or passing by itself. */
export type StandingKind = 'good' | 'idle' | 'warn' | 'bad';
