import { randomBytes } from 'node:crypto';
import { harmless, injections } from '@earshot/mcp/injections';
import { eventually } from '@earshot/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Console, type OpenPage, startConsole } from './console-page.ts';
import { inspectPage, type PageInspection } from './inspect-page.ts';

const within = { timeoutMs: 240_000 };
const word = 'untrustedword';

/** Texts that attack pages. `injections` has texts that attack agents. */
const attacksOnPages = [
  '<script>document.title = "taken"</script>',
  '<img src="https://elsewhere.example/pixel.png" onerror="document.title=\'taken\'">',
  '<svg onload="document.title=\'taken\'"></svg>',
  '<a href="javascript:document.title=\'taken\'">click</a>',
  '<style>body { display: none }</style>',
  '<base href="https://elsewhere.example/">',
  '<iframe srcdoc="<script>parent.document.title=1</script>"></iframe>',
];
const hostile = [...attacksOnPages, ...injections('0'.repeat(39)).map(({ text }) => text)];
const texts = [harmless('Nothing of interest'), ...hostile];

/** A preview shows ten matches, so each ten texts share a word that finds only them. */
const groupOf = (index: number) => `group${String(Math.floor(index / 10)).padStart(2, '0')}`;
const groups = [...new Set(texts.map((_, index) => groupOf(index)))];

let running: Console;
beforeAll(async () => {
  running = await startConsole({
    EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
  });
  const api = running.server.api(running.account);
  await eventually(() => api.createRule({ x: word, firehose: word }), within);
  await publish();
  await eventually(
    async () => expect(await api.allMatches({ limit: 100 })).toHaveLength(2 * texts.length),
    within,
  );
  await label();
}, 600_000);
afterAll(() => running?.[Symbol.asyncDispose]());

/** Puts the texts into every field that the author of a post or page controls. */
async function publish(): Promise<void> {
  const posts = texts.map((text, index) => ({
    text: `${text}\n${word} ${groupOf(index)}`,
    author: { username: `mallory${index}`, name: text },
    lang: 'en',
  }));
  const pages = texts.map((text, index) => ({
    // The server refuses pages with U+0000 in the URL.
    url: `https://mallory${index}.example/#${text.replaceAll('\0', '')}`,
    title: text,
    language: 'en',
    chunks: [{ typ: 'ins', text: `${text}\n${word} ${groupOf(index)}` }],
  }));
  for (let at = 0; at < texts.length; at += 20) {
    await inject('/sandbox/x/posts', { posts: posts.slice(at, at + 20) });
    await inject('/sandbox/firehose/pages', { pages: pages.slice(at, at + 20) });
  }
}

/** Labels each match with one of the texts as the reason, as a judge that repeats items would. */
async function label(): Promise<void> {
  const matches = await running.server.api(running.account).allMatches({ limit: 100 });
  for (const [index, text] of texts.entries()) {
    const match_ids = matches.slice(2 * index, 2 * index + 2).map(({ id }) => id);
    const note = `reason: ${storable(text)}`.slice(0, 500).toWellFormed();
    await call('LabelMatches', { match_ids, label: 'not_relevant', note });
  }
}

async function inject(path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, running.world.sandbox.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

/** Expects that no script ran and that no request was sent to another host. */
function expectHarmless(
  { page, requested, problems }: OpenPage,
  inspections: readonly PageInspection[],
): void {
  expect(inspections.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(toOtherHosts(requested)).toEqual([]);
  expect(problems).toEqual([]);
  expect(page.isClosed()).toBe(false);
}

const toOtherHosts = (requested: readonly string[]) =>
  requested.filter((url) => !url.startsWith(running.server.url));

describe('untrusted content stays text', () => {
  test('in the feed and in the open match, without changing the page around it', async () => {
    const opened = await running.open();
    const { page } = opened;
    await page.locator('mark').first().waitFor();
    // The histogram moves the list down when it has loaded.
    await page.locator('figure').waitFor();
    const inspections = new Map<string, PageInspection>();
    while (inspections.size < 2 * texts.length) {
      await page.keyboard.press('j');
      const inspection = await inspectPage(page);
      if (inspection.peek !== null) inspections.set(inspection.peek, inspection);
    }
    expectHarmless(opened, [...inspections.values()]);
    // All posts have the same frame as the harmless one, and so do all pages.
    expect(distinct([...inspections.values()].map(({ frame }) => frame))).toHaveLength(2);
    expect(distinct([...inspections.values()].flatMap(({ rows }) => rows))).toHaveLength(2);
  });

  test('in the preview of a draft', async () => {
    const opened = await running.open();
    const { page } = opened;
    await page.goto(`${running.server.url}/rules/new`);
    await page.getByRole('checkbox', { name: 'Firehose' }).check();
    const inspections: PageInspection[] = [];
    for (const group of groups) {
      for (const platform of ['X', 'Firehose'])
        await page.getByRole('textbox', { name: `Query on ${platform}` }).fill(group);
      const size = texts.filter((_, index) => groupOf(index) === group).length;
      const samples = page.getByRole('region', { name: 'Preview' }).locator('li');
      await eventually(async () => {
        // On a busy machine, a preview may not evaluate all stored items. Then the test requests another one.
        await page.getByRole('button', { name: 'Preview' }).click();
        await page.locator('section[aria-label="Preview"][aria-busy="false"]').waitFor();
        // Posts show their text, which has the word. Pages show their title, which does not.
        expect(await samples.filter({ hasText: group }).count()).toBe(size);
        expect(await samples.count()).toBe(2 * size);
      }, within);
      inspections.push(await inspectPage(page));
    }
    expectHarmless(opened, inspections);
  });

  test('in the answers of webhooks', async () => {
    const { webhook_id } = await call('CreateWebhook', { name: 'a', url: 'http://127.0.0.1:1/' });
    // Simulates an endpoint that answered with each of the texts.
    await running.world.database.query(
      `insert into deliveries (id, webhook_id, message_id, first_position, last_position, match_count, attempt, outcome,
         status, latency_ms, message, response)
       select 'dlv_' || n, $1, 'msg_' || n, 1, 1, 1, 1, 'refused', 500, 1, text, text
       from unnest($2::text[]) with ordinality as answers (text, n)`,
      [webhook_id, texts.map(storable)],
    );
    const opened = await running.open();
    const { page } = opened;
    await page.goto(`${running.server.url}/webhooks/${webhook_id}?outcome=refused`);
    await page.getByRole('cell', { name: 'Refused' }).first().waitFor();
    await showAll(page);
    await page.evaluate(
      `for (const one of document.querySelectorAll('tbody [aria-expanded="false"]')) one.click()`,
    );
    const answers = page.locator('pre bdi');
    await expect.poll(() => answers.count(), { timeout: 120_000 }).toBe(texts.length);
    expectHarmless(opened, [await inspectPage(page)]);
  });

  test('in names of rules', async () => {
    const name = `\u202e${attacksOnPages[1]}`;
    const api = running.server.api(running.account);
    const { rule_id } = await eventually(() => api.createRule({ x: 'nameword', name }), within);
    const opened = await running.open();
    const inspections: PageInspection[] = [];
    const screens = ['/feed', '/rules', `/rules/${rule_id}`, '/coverage', '/audit'];
    for (const path of screens) {
      await opened.page.goto(`${running.server.url}${path}`);
      await opened.page.getByText('elsewhere.example').first().waitFor({ state: 'attached' });
      inspections.push(await inspectPage(opened.page));
    }
    expectHarmless(opened, inspections);
  });

  test('in error messages of platforms', async () => {
    const { sandbox } = running.world;
    const message = attacksOnPages[1];
    await sandbox.arm({ kind: 'rule_refused', platform: 'x', contains: 'refusedword', message, count: null });
    const opened = await running.open();
    const { page } = opened;
    await page.goto(`${running.server.url}/rules/new`);
    await page.getByLabel('Name', { exact: true }).fill('Refused');
    await page.getByLabel('Intent').fill('To be refused');
    await page.getByRole('textbox', { name: 'Query on X' }).fill('refusedword');
    await page.getByRole('button', { name: 'Save …' }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('<img src="https://elsewhere.example').first().waitFor();
    const inspections = [await inspectPage(page)];
    await sandbox.clearFaults();

    await sandbox.arm({ kind: 'stream_status', platform: 'x', status: 403, message, count: null });
    await sandbox.arm({ kind: 'stream_cut', platform: 'x' });
    await page.goto(`${running.server.url}/sources`);
    await page.getByText('<img src="https://elsewhere.example').first().waitFor();
    inspections.push(await inspectPage(page));
    await copyNotices();
    await page.goto(`${running.server.url}/notices?show=all`);
    await page.getByText('<img src="https://elsewhere.example').first().waitFor();
    await showAll(page);
    inspections.push(await inspectPage(page));
    await sandbox.clearFaults();
    expectHarmless(opened, inspections);
    expect(await page.getByText('Error message:').count()).toBeGreaterThan(texts.length);
  });
});

test('control: finds a text that is inserted as HTML', async () => {
  const opened = await running.open({ bypassCSP: true });
  const { page, requested } = opened;
  await page.locator('mark').first().waitFor();
  const before = await inspectPage(page);
  expect(before.wrong).toEqual([]);
  const put = (text: string) =>
    page.evaluate(`document.querySelector('main bdi').innerHTML = ${JSON.stringify(text)}`);
  await put(attacksOnPages[1] ?? '');
  await eventually(async () => expect(await page.title()).toBe('taken'), within);
  const { wrong } = await inspectPage(page);
  expect(wrong).toEqual(expect.arrayContaining(['the title is taken', 'in a text: img', 'in the page: img']));
  expect(toOtherHosts(requested)).toContain('https://elsewhere.example/pixel.png');
  await put('<a href="https://evil.example/">bank.example</a><div style="width: 3000px">\u202e</div>');
  const after = (await inspectPage(page)).wrong;
  expect(after).toEqual(
    expect.arrayContaining(['evil.example is called bank.example', 'a link with rel ', 'hidden: U+202e']),
  );
});

const distinct = (all: readonly string[]) => [...new Set(all)];

/** PostgreSQL cannot store U+0000. */
const storable = (text: string) => text.replaceAll('\0', '');

async function call(operation: string, request: object) {
  const answer = await running.server.api(running.account).call('POST', `/api.${operation}`, request);
  expect(answer).toMatchObject({ status: 200 });
  return Object(answer.json);
}

async function showAll(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: /^(Show more|Loading …)$/ });
  while ((await more.count()) > 0) await more.click({ timeout: 5_000 }).catch(() => undefined);
}

/** Copies the notice for each text, as if the platform had sent the text. */
async function copyNotices(): Promise<void> {
  const { database } = running.world;
  const raised = await eventually(async () => {
    const { rows } = await database.query(`select id from notices where type = 'source.action_required'`);
    if (rows[0] === undefined) throw new Error('no notice was raised');
    return rows[0].id as string;
  }, within);
  await database.query(
    `insert into notices (id, account_id, position, type, severity, subject_kind, subject_id, subject_name, key, data,
       what_to_do)
     select 'ntc_' || n, account_id, position - n, type, severity, subject_kind, subject_id, subject_name, 'copy ' || n,
       json_build_object('platform', 'x', 'state', 'refused', 'message', text), what_to_do
     from notices, unnest($2::text[]) with ordinality as said (text, n) where id = $1`,
    [raised, texts.map(storable)],
  );
}
