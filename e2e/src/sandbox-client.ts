/** The part of the sandbox's control interface that the tests need. */
export interface SandboxClient {
  readonly url: string;
  posts(texts: readonly string[]): Promise<InjectedPost[]>;
  /** X delivers a post once more, or another one under its id. */
  repost(id: string, text: string): Promise<void>;
  pages(pages: ReadonlyArray<{ url: string; title: string; text: string }>): Promise<InjectedPage[]>;
  /** Publishes posts on Bluesky; returns their AT URIs. */
  blueskyPosts(texts: readonly string[]): Promise<string[]>;
  deleteBlueskyPost(uri: string): Promise<void>;
  /** The number of open streams. */
  blueskyConnections(): Promise<number>;
  /** How far back Bluesky's stream can be replayed. */
  setBlueskyLookback(ms: number): Promise<void>;
  xState(token: string): Promise<XState>;
  firehoseState(token: string): Promise<FirehoseState>;
  /** The app's plan on X: whether it has credit, for example. */
  setXPlan(plan: string): Promise<void>;
  arm(fault: Record<string, unknown>): Promise<void>;
  /** How often each armed fault fired, in the order of arming. */
  fired(): Promise<number[]>;
  clearFaults(): Promise<void>;
}

export interface InjectedPost {
  readonly id: string;
  readonly delivered: boolean;
  readonly matching_rules: ReadonlyArray<{ token: string; rule_ids: string[] }>;
}

export interface InjectedPage {
  readonly url: string;
  readonly events: ReadonlyArray<{ tap: string; event_id: string; query_ids: string[] }>;
}

export interface UpstreamRule {
  readonly id: string;
  readonly value: string;
  readonly tag?: string;
  readonly quality?: boolean;
  readonly nsfw?: boolean;
}

interface RuleCalls {
  readonly made: number;
  readonly refused: number;
}

export interface XState {
  readonly rules: readonly UpstreamRule[];
  readonly connections: { open: number };
  readonly rule_calls: { list: RuleCalls; change: RuleCalls };
  readonly undelivered: readonly string[];
  readonly unconfirmed: readonly string[];
}

export interface FirehoseState {
  readonly rules: readonly UpstreamRule[];
}

export function createSandboxClient(url: string): SandboxClient {
  const ask = async <Result>(method: string, path: string, body?: unknown): Promise<Result> => {
    const response = await fetch(new URL(path, url), {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the sandbox answered ${response.status}: ${text}`);
    return (text === '' ? null : JSON.parse(text)) as Result;
  };
  return {
    url,
    async posts(texts) {
      const answer = await ask<{ posts: InjectedPost[] }>('POST', '/sandbox/x/posts', {
        posts: texts.map((text) => ({ text, author: { username: 'someone' }, lang: 'en' })),
      });
      return answer.posts;
    },
    async repost(id, text) {
      await ask('POST', '/sandbox/x/posts', { id, text, author: { username: 'someone' }, lang: 'en' });
    },
    async pages(pages) {
      const answer = await ask<{ pages: InjectedPage[] }>('POST', '/sandbox/firehose/pages', {
        pages: pages.map(({ url: pageUrl, title, text }) => ({
          url: pageUrl,
          title,
          language: 'en',
          publish_time: new Date().toISOString().slice(0, 19),
          chunks: [{ typ: 'ins', text }],
        })),
      });
      return answer.pages;
    },
    async blueskyPosts(texts) {
      const answer = await ask<{ posts: Array<{ uri: string }> }>('POST', '/sandbox/bluesky/posts', {
        posts: texts.map((text) => ({ text, langs: ['en'] })),
      });
      return answer.posts.map(({ uri }) => uri);
    },
    deleteBlueskyPost: (uri) => ask('POST', '/sandbox/bluesky/deletions', { uri }),
    async blueskyConnections() {
      const state = await ask<{ connections: { open: number } }>('GET', '/sandbox/bluesky/state');
      return state.connections.open;
    },
    setBlueskyLookback: (ms) => ask('POST', '/sandbox/bluesky/knobs', { lookback_ms: ms }),
    xState: (token) => ask('GET', `/sandbox/x/state?token=${token}`),
    firehoseState: (token) => ask('GET', `/sandbox/firehose/state?token=${token}`),
    setXPlan: (plan) => ask('POST', '/sandbox/x/plan', { plan }),
    arm: (fault) => ask('POST', '/sandbox/faults', fault),
    async fired() {
      const answer = await ask<{ faults: Array<{ fired: number }> }>('GET', '/sandbox/faults');
      return answer.faults.map(({ fired }) => fired);
    },
    clearFaults: () => ask('DELETE', '/sandbox/faults'),
  };
}
