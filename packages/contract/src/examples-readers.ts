import { examples } from './examples.ts';

/** Examples of the ways to follow matches: see examples.ts. */
const [match] = examples.listMatches.answer.matches;
const rule_id = 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p';
const cursor = 'c1.MTk4OTQ3MjUx.5b1f0c7e';

const streamMatches = {
  request: { rule_id },
  answer: { id: cursor, event: 'match', data: match },
} as const;

const readMatches = {
  request: { reader: 'morning-report', rule_id, limit: 20, wait_seconds: 20 },
  answer: { matches: [match], cursor, coverage: examples.listMatches.answer.coverage },
} as const;

const ackMatches = {
  request: { reader: 'morning-report', cursor },
  answer: { reader: 'morning-report', moved: true },
} as const;

const listReaders = {
  request: {},
  answer: {
    readers: [
      {
        name: 'morning-report',
        rule_id,
        platform: null,
        created_at: '2026-11-14T22:46:00.000Z',
        acknowledged_at: '2026-11-15T08:00:00.000Z',
      },
    ],
  },
} as const;

const deleteReader = {
  request: { reader: 'morning-report' },
  answer: { reader: 'morning-report', deleted_at: '2026-11-15T08:00:00.000Z' },
} as const;

export const readerExamples = { streamMatches, readMatches, ackMatches, listReaders, deleteReader };
