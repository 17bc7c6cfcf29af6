import type { Match } from '@earshot/sdk';

export const platformNames: Readonly<Record<Match['platform'], string>> = { x: 'X', firehose: 'Firehose' };
