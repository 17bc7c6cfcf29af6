import {
  defaultTapToken,
  defaultXToken,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '@earshot/sandbox';
import { stepIds } from '../src/doctor/register.ts';
import type { Report } from '../src/doctor/report.ts';
import { type DoctorOptions, runDoctor } from '../src/doctor/run-doctor.ts';

/** How many times faster the doctor waits. The sandbox is even faster, so that a busy machine does not delay it too much. */
export const pace = 50;
const speed = 150;
export const startUpstreams = (options: SandboxOptions = {}) =>
  startSandbox({ speed, ruleDelayMs: 0, ...options });

export function doctor({ url: baseUrl }: Sandbox, given: Partial<DoctorOptions> = {}): Promise<Report> {
  return runDoctor({
    x: { baseUrl, token: defaultXToken },
    firehose: { baseUrl, token: defaultTapToken },
    bluesky: null,
    steps: stepIds,
    spendUsd: 0,
    isBesideOthers: false,
    isEnterprise: false,
    isTapIdle: true,
    busyRule: 'from:newsdesk',
    pace,
    signal: new AbortController().signal,
    screen: { note: () => undefined, waitFor: (_words, work) => work },
    ...given,
  });
}

export const numbersOf = ({ assumptions }: Report, wanted: string) =>
  assumptions.filter(({ verdict }) => verdict === wanted).map(({ number }) => number as string);

export async function control({ url }: Sandbox, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}/sandbox/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

/** Uses the platform like another program. */
export async function addXRule({ url }: Sandbox, rule: { value: string; tag?: string }): Promise<void> {
  const headers = { authorization: `Bearer ${defaultXToken}` };
  const body = JSON.stringify({ add: [rule] });
  await fetch(`${url}/2/tweets/search/stream/rules`, { method: 'POST', headers, body });
}

export async function addTapRule({ url }: Sandbox, rule: { value: string; tag?: string }): Promise<void> {
  const headers = { authorization: `Bearer ${defaultTapToken}` };
  await fetch(`${url}/v1/rules`, { method: 'POST', headers, body: JSON.stringify(rule) });
}

export const secretText = 'This sentence must stay secret';

/** Publishes posts, each of which quotes another, and pages, until it is disposed. */
export function publish(sandbox: Sandbox): Disposable {
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const quoted = String(9_000_000_000_000 + count);
    const post = {
      text: `🚀 ${secretText} #tag${count}`,
      author: { username: 'newsdesk' },
      referenced_tweets: [{ type: 'quoted', id: quoted }],
      includes: { tweets: [{ id: quoted, text: secretText, author_id: '77' }] },
    };
    const page = {
      url: `https://news.example/${count}`,
      title: secretText,
      language: 'en',
      page_types: ['/Article'],
      chunks: [{ typ: 'ins', text: secretText }],
    };
    void control(sandbox, 'x/posts', post).catch(() => undefined);
    void control(sandbox, 'firehose/pages', page).catch(() => undefined);
  }, 20);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
