import type { AnswerOf, Match, RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createFollowing } from '../src/readers/follow-matches.ts';
import { getMatch } from '../src/readers/get-match.ts';
import { listMatches } from '../src/readers/list-matches.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { openMatchTail } from '../src/readers/match-tail.ts';
import { createTailReader } from '../src/readers/tail-reader.sql.ts';
import { createViews } from '../src/readers/views.ts';
import { labelMatches } from '../src/relevance/label-matches.ts';
import { listLabels } from '../src/relevance/list-labels.ts';
import { deleteMute, listMutes, muteMatches } from '../src/relevance/manage-mutes.ts';
import { removeItems } from '../src/removals/remove-items.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { callOf } from './call-of.ts';
import { createLocalBells } from './local-bells.ts';
import { type PreviewWorld, startPreviewWorld } from './preview-world.ts';
import { createMigratedTemplate, silentTelemetry } from './support.ts';

let template: Template;
let world: PreviewWorld;
let handlers: Awaited<ReturnType<typeof openHandlers>>;

beforeAll(async () => {
  template = await createMigratedTemplate();
  world = await startPreviewWorld(template);
  await world.setValue('rule_1', 'aurora');
  await world.setValue('rule_2', 'aurora');
  const by = (author: string, n: number) => ({ author, text: `aurora ${n} by ${author}`, hoursAgo: 100 - n });
  await world.store([
    { ...by('Ferris', 1), rules: ['rule_1'], hoursAgo: 90 },
    { ...by('spammer', 2), rules: ['rule_1', 'rule_2'] },
    { ...by('spammer', 3), rules: ['rule_1'] },
    { ...by('ferris', 4), rules: ['rule_1'] },
    { ...by('spammer', 5), rules: ['rule_1'] },
    { ...by('others', 6), rules: ['other_1'] },
  ]);
  handlers = await openHandlers();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await template?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await world.database.run('delete from match_relevance');
  await world.database.run('delete from mutes');
  handlers.views.forget('acc_1');
});

async function openHandlers() {
  const { database } = world;
  const parsedRules = createParsedRules();
  const reader = createMatchReader(database);
  const tail = await openMatchTail({
    reader: createTailReader(database),
    parsedRules,
    bells: createLocalBells(),
    telemetry: silentTelemetry(),
  });
  const options = {
    database,
    views: createViews({ database, hasJudge: false }),
    rules: createRuleStore(database),
    cursors: createCursors(Buffer.alloc(32)),
    contact: 'the operator',
    reader,
    parsedRules,
    coverage: async () => ({ complete_through: null, gaps: [] }),
    following: createFollowing({ tail, reader, parsedRules }),
  };
  return {
    views: options.views,
    list: listMatches(options),
    get: getMatch(options),
    label: labelMatches(options),
    labels: listLabels(options),
    mute: muteMatches(options),
    mutes: listMutes(options),
    unmute: deleteMute(options),
  };
}

async function list(
  request: Partial<RequestOf<'ListMatches'>> = {},
  accountId = 'acc_1',
): Promise<AnswerOf<'ListMatches'>> {
  return await handlers.list(callOf('ListMatches', { order: 'newest', limit: 50, ...request }, accountId));
}

const textsOf = ({ matches }: { matches: readonly Match[] }) => matches.map(({ payload }) => payload.text);
const idsOf = ({ matches }: { matches: readonly Match[] }) => matches.map(({ id }) => id);
const label = (matchIds: readonly string[], name: 'relevant' | 'not_relevant' | null, accountId?: string) =>
  handlers.label(callOf('LabelMatches', { match_ids: [...matchIds], label: name, note: 'why' }, accountId));
const mute = (request: RequestOf<'MuteMatches'>) => handlers.mute(callOf('MuteMatches', request));

test('a label marks its match in lists and by id, and filters leave out what is not relevant', async () => {
  const all = idsOf(await list({ rule_id: 'rule_1' }));
  const [newest = '', second = ''] = all;
  await label([newest], 'not_relevant');
  await label([second], 'relevant');
  const listed = await list({ rule_id: 'rule_1' });
  expect(idsOf(listed)).toEqual(all);
  expect(listed.matches.map(({ relevance }) => relevance?.verdict)).toEqual([
    'not_relevant',
    'relevant',
    ...all.slice(2).map(() => undefined),
  ]);
  const { relevance } = await handlers.get(callOf('GetMatch', { match_id: newest }));
  expect(relevance).toEqual({ verdict: 'not_relevant', by: 'label', reason: 'why', intent_version: null });
  for (const filter of ['not_irrelevant', 'relevant'] as const) {
    const filtered = await list({ rule_id: 'rule_1', relevance: filter });
    expect(idsOf(filtered)).toEqual(all.slice(1));
    expect(filtered.hidden).toEqual({ muted: 0, not_relevant: 1 });
  }
  const only = await list({ rule_id: 'rule_1', relevance: 'relevant', hidden: 'only' });
  expect(idsOf(only)).toEqual([newest]);
  const { labels } = await handlers.labels(callOf('ListLabels', { limit: 100, rule_id: 'rule_1' }));
  expect(labels.map(({ match_id, label: name, labelled_by }) => [match_id, name, labelled_by])).toEqual([
    [newest, 'not_relevant', 'key_1'],
    [second, 'relevant', 'key_1'],
  ]);
  await label([newest, second], null);
  expect((await handlers.labels(callOf('ListLabels', { limit: 100 }))).labels).toEqual([]);
  expect((await list({ rule_id: 'rule_1', relevance: 'relevant' })).hidden).toBeUndefined();
});

test('either all of the matches are labelled or none, and those of other accounts do not exist', async () => {
  const [own = ''] = idsOf(await list());
  const [other = ''] = idsOf(await list({}, 'acc_2'));
  for (const foreign of [other, 'mat_zzzzzzzzzzzz'])
    await expect(label([own, foreign], 'relevant')).rejects.toMatchObject({ code: 'not_found' });
  expect((await handlers.labels(callOf('ListLabels', { limit: 100 }))).labels).toEqual([]);
});

test('a match of a deleted rule cannot be labelled, and its labels are not listed', async () => {
  const [match = ''] = idsOf(await list({ rule_id: 'rule_2' }));
  await label([match], 'relevant');
  await world.database.run(`update rules set state = 'deleted' where id = 'rule_2'`);
  await expect(label([match], 'relevant')).rejects.toMatchObject({ code: 'not_found' });
  expect((await handlers.labels(callOf('ListLabels', { limit: 100 }))).labels).toEqual([]);
  await world.database.run(`update rules set state = 'active' where id = 'rule_2'`);
});

test('the third rejected match of an author without a relevant one offers a mute', async () => {
  const { matches } = await list({ rule_id: 'rule_1' });
  const of = (author: string) =>
    matches.flatMap(({ id, payload }) => (payload.author?.handle === author ? [id] : []));
  expect((await label(of('spammer').slice(0, 2), 'not_relevant')).mute_suggestions).toEqual([]);
  const { mute_suggestions } = await label(of('spammer'), 'not_relevant');
  const suggested = { rule_id: 'rule_1', author: 'spammer', domain: null };
  expect(mute_suggestions).toEqual([{ ...suggested, rejected: 3, query: { x: '-from:spammer' } }]);
  await label(of('spammer').slice(0, 1), 'relevant');
  expect((await label(of('ferris'), 'not_relevant')).mute_suggestions).toEqual([]);
  await label(of('spammer'), 'not_relevant');
  const made = await mute({ author: '@Spammer', rule_id: 'rule_1' });
  expect(made).toMatchObject({ author: 'spammer', query: { x: '-from:spammer' } });
  expect((await label(of('ferris'), 'not_relevant')).mute_suggestions).toEqual([]);
});

test('a mute hides and counts matches of its rule until it is deleted', async () => {
  const before = await list();
  const { mute_id } = await mute({ rule_id: 'rule_1', author: 'SPAMMER' });
  const listed = await list();
  expect(new Set(textsOf(listed))).toEqual(
    new Set(['aurora 1 by Ferris', 'aurora 2 by spammer', 'aurora 4 by ferris']),
  );
  expect(listed.matches.find(({ payload }) => payload.text?.includes('2'))?.rule_id).toBe('rule_2');
  expect(listed.hidden).toEqual({ muted: 3, not_relevant: 0 });
  const shown = await list({ hidden: 'include' });
  expect(idsOf(shown)).toEqual(idsOf(before));
  expect(shown.matches.filter(({ muted_by }) => muted_by === mute_id)).toHaveLength(3);
  expect(idsOf(await list({ hidden: 'only' }))).toHaveLength(3);
  await expect(mute({ rule_id: 'rule_1', author: 'spammer' })).rejects.toMatchObject({
    code: 'already_exists',
  });
  await handlers.unmute(callOf('DeleteMute', { mute_id }));
  expect(await list()).toEqual(before);
  await expect(handlers.unmute(callOf('DeleteMute', { mute_id }))).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('pages of a filtered list are full, and together have every shown match once', async () => {
  await mute({ phrase: 'by spammer' });
  for (const order of ['newest', 'oldest'] as const) {
    const pages: string[][] = [];
    let hidden = 0;
    for (let cursor: string | null | undefined; pages.length < 5; ) {
      const page = await list({ order, limit: 1, ...(cursor && { cursor }) });
      hidden += page.hidden?.muted ?? 0;
      if (page.matches.length > 0) pages.push(idsOf(page));
      cursor = page.next_cursor;
      if (cursor === null || (order === 'oldest' && page.matches.length === 0)) break;
    }
    expect(pages.map((page) => page.length)).toEqual([1, 1]);
    expect(hidden).toBe(4);
  }
});

test('a mute of another account hides nothing here and does not exist', async () => {
  const call = callOf('MuteMatches', { author: 'spammer' }, 'acc_2');
  const { mute_id } = await handlers.mute(call);
  expect((await list()).hidden).toBeUndefined();
  expect((await handlers.mutes(callOf('ListMutes', { limit: 100 }))).mutes).toEqual([]);
  await expect(handlers.unmute(callOf('DeleteMute', { mute_id }))).rejects.toMatchObject({
    code: 'not_found',
  });
});

// Last: the other tests list no removals.
test('a label is deleted with the item', async () => {
  await world.store([{ text: 'aurora to be removed', rules: ['rule_1'], hoursAgo: 0 }]);
  const [match = ''] = idsOf(await list({ rule_id: 'rule_1' }));
  await label([match], 'relevant');
  const item = await world.database.one<{ day: string; key: string }>(
    'select event_day::text as day, event_key as key from matches order by position desc limit 1',
  );
  await removeItems(world.database, item?.day ?? '', {
    items: [{ platform: 'x', eventKey: item?.key ?? '' }],
    reason: 'deleted',
  });
  expect(await world.database.many('select position from match_relevance')).toEqual([]);
});
