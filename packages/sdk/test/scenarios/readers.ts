import { expect } from 'vitest';
import { cut, failure, json, proxyPage } from '../answering-server.ts';
import { removal, restored } from './log-answers.ts';
import type { Scenario } from './scenario.ts';

export function readerScenarios(): Scenario[] {
  const page = (cursor: string | null, ids: readonly string[], more: object = {}) =>
    json(200, { matches: ids.map((id) => ({ id })), cursor, coverage: null, ...more });
  const acknowledged = json(200, { reader: 'r', moved: true });
  const reading = { url: '/api.ReadMatches', body: { reader: 'r', limit: 2, wait_seconds: 0 } };
  const judged = { ...reading, body: { ...reading.body, relevance: 'not_irrelevant' } };
  const acknowledging = { url: '/api.AckMatches', body: { reader: 'r', cursor: 'c2' } };
  return [
    {
      name: 'a reader acknowledges each page after the loop has processed it',
      answers: () => [page('c2', ['mat_1', 'mat_2']), acknowledged, page(null, [])],
      steps: [{ do: 'consume', request: { limit: 2 } }],
      observed: [{ item: 'mat_1' }, { item: 'mat_2' }],
      received: [reading, acknowledging, reading],
    },
    {
      name: 'a page is not acknowledged if the program leaves the loop',
      answers: () => [page('c2', ['mat_1', 'mat_2'])],
      steps: [{ do: 'consume', request: { limit: 2 }, take: 2 }],
      observed: [{ item: 'mat_1' }, { item: 'mat_2' }],
      received: [reading],
    },
    {
      name: 'a reader continues when the server is killed during a poll and an acknowledgement',
      answers: () => [cut, page('c2', ['mat_1']), cut, acknowledged, proxyPage(502), page(null, [])],
      steps: [{ do: 'consume', request: { limit: 2 } }],
      observed: [{ item: 'mat_1' }],
      received: [reading, reading, acknowledging, acknowledging, reading, reading],
    },
    {
      name: 'a reader continues after a restore, and reports it',
      answers: () => [page('c9', ['mat_9']), restored, page('c6', ['mat_6']), acknowledged, page(null, [])],
      steps: [{ do: 'consume', request: {} }],
      observed: [{ item: 'mat_9' }, { restored: 'out_of_range', cursor: 'c5' }, { item: 'mat_6' }],
    },
    {
      name: 'a reader sends its relevance, and continues behind a page whose matches are all left out',
      answers: () => [
        page('c2', [], { hidden: { muted: 0, not_relevant: 2 } }),
        acknowledged,
        page('c3', ['mat_3']),
        acknowledged,
        page(null, []),
      ],
      steps: [{ do: 'consume', request: { relevance: 'not_irrelevant', limit: 2 } }],
      observed: [{ item: 'mat_3' }],
      received: [
        judged,
        acknowledging,
        judged,
        { ...acknowledging, body: { reader: 'r', cursor: 'c3' } },
        judged,
      ],
    },
    {
      name: 'a reader reports removals before it acknowledges them',
      answers: () => [page('c2', [], { removed: [removal('mat_0')] }), failure(404, 'not_found')],
      steps: [{ do: 'consume', request: {} }],
      observed: [{ removed: 'mat_0' }, { error: expect.objectContaining({ code: 'not_found' }) }],
    },
  ];
}
