import type { Platform, PlatformDescription } from '@earshot/contract';
import type { Diagnostic, Language, LeafNode, Node, Span } from '@earshot/query';
import type { PlatformDescriptor, Source } from '../src/upstream/platform.ts';
import { usualProtocol } from '../src/upstream/protocol.ts';
import type { UpstreamRule, UpstreamRules } from '../src/upstream/upstream-rules.ts';
import { StreamEnded, type StreamFrame } from '../src/upstream/upstream-stream.ts';

/** The contract describes it only while the test runs. */
const id = 'feed' as Platform;

interface FeedItem {
  readonly id: string;
  readonly text: string;
  readonly at: string;
  readonly rules: ReadonlyArray<{ readonly id: string; readonly tag: string | null }>;
}

export interface WordFeed {
  readonly description: PlatformDescription;
  readonly platform: PlatformDescriptor<unknown>;
  /** The rules that were registered at the feed. */
  rules(): readonly UpstreamRule[];
  /** Delivers a text to the stream, with the rules whose words it contains. */
  push(text: string): void;
}

/** A minimal platform: texts in memory, and rules of plain words that must all be in the text. */
export function createWordFeed(): WordFeed {
  const registered = new Map<string, UpstreamRule>();
  const waiting: FeedItem[] = [];
  let wake = () => undefined as void;
  let count = 0;
  const rules: UpstreamRules = {
    batchMax: 10,
    rulesPerCall: 10,
    limits: {
      read: { bucket: 'rules', calls: 1_000, windowMs: 1_000 },
      change: { bucket: 'rules', calls: 1_000, windowMs: 1_000 },
    },
    list: async () => [...registered.values()],
    add: async (added) =>
      added.map(({ value, tag }) => {
        const ruleId = `word-${++count}`;
        registered.set(ruleId, { id: ruleId, value, tag });
        return { kind: 'added', id: ruleId };
      }),
    async remove(ids) {
      for (const ruleId of ids) registered.delete(ruleId);
    },
    room: async () => null,
  };
  async function* open(signal: AbortSignal): AsyncGenerator<StreamFrame> {
    signal.addEventListener('abort', () => wake(), { once: true });
    yield { kind: 'opened' };
    while (!signal.aborted) {
      for (const item of waiting.splice(0))
        yield { kind: 'item', upstreamId: null, text: JSON.stringify(item) };
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (waiting.length > 0 || signal.aborted) resolve();
      });
    }
    throw new StreamEnded({ kind: 'stopped' }, 'closed by Earshot');
  }
  const source: Source = {
    id: 'feed:main',
    platform: id,
    capacity: 100,
    rules,
    stream: { open: (_from, signal) => open(signal) },
    protocol: { ...usualProtocol, connects: { bucket: 'connect', calls: 100, windowMs: 1_000 } },
    endStaleConnections: null,
    repair: { by: 'nothing' },
    compliance: null,
    readUsage: null,
  };
  return {
    description: {
      title: 'Feed',
      setting: null,
      items: 'texts of a feed',
      itemId: 'the number of the text',
      ruleType: 'regular',
      allowance: 'any number of rules',
      sampleValue: 'two words',
      ruleOptions: {},
      exampleFields: ['text'],
      hasSites: false,
      exclusions: { author: null, domain: null, phrase: null },
    },
    platform: {
      language: wordLanguage,
      tier: () => 'standard',
      ruleType: 'regular',
      needsPaidPlan: false,
      ruleDelayMs: () => 0,
      newRuleId: () => 'word-shown',
      sendsKeepAlives: false,
      reportsDeletions: false,
      readItem: (sourceId, { text }) => readFeedItem(sourceId, text),
      itemTime: ({ payload }) => new Date(payload.published_at ?? Number.NaN),
      shortenItem: null,
      relationsOf: () => ({ at: null, post: null, page: null, references: [], links: [] }),
      postOfUrl: () => null,
      billing: {
        itemKind: 'page',
        cameAlong: () => ({ users: [], posts: [] }),
        chargedAgain: 'never',
        prices: { page: 0.002 },
      },
      stopsWithinMs: 1_000,
      mostAlong: () => ({ users: 0, posts: 0 }),
      openCounts: null,
      openSources: () => [source],
    },
    rules: () => [...registered.values()],
    push(text) {
      const matching = [...registered.values()].filter(({ value }) => hasWords(text, value.split(' ')));
      waiting.push({
        id: `item-${++count}`,
        text,
        at: new Date().toISOString(),
        rules: matching.map((rule) => ({ id: rule.id, tag: rule.tag })),
      });
      wake();
    },
  };
}

function readFeedItem(sourceId: string, text: string): ReturnType<PlatformDescriptor<unknown>['readItem']> {
  const item: FeedItem = JSON.parse(text);
  return {
    kind: 'item',
    item: {
      platform: id,
      sourceId,
      upstreamEventId: item.id,
      key: item.id,
      day: item.at.slice(0, 10),
      platformPostId: item.id,
      rules: item.rules.map((rule) => ({ upstreamRuleId: rule.id, tag: rule.tag })),
      payload: {
        url: null,
        title: null,
        text: item.text,
        author: null,
        published_at: item.at,
        language: null,
        raw: { text: item.text },
      },
    },
  };
}

function hasWords(text: string, words: readonly string[]): boolean {
  const all = text.toLowerCase().split(/\W+/);
  return words.every((word) => all.includes(word));
}

const wordLanguage: Language = {
  platform: id,
  parse(text) {
    const leaves = Array.from(text.matchAll(/\S+/g), ({ 0: word, index }): LeafNode => {
      const span: Span = [index, index + word.length];
      return {
        kind: 'leaf',
        field: 'word',
        test: { type: 'term', value: word.toLowerCase() },
        span,
        valueSpan: span,
      };
    });
    const root: Node | null =
      leaves.length === 0 ? null : { kind: 'and', children: leaves, span: [0, text.length] };
    return { text, root, diagnostics: leaves.flatMap(problemsOf), tokens: [] };
  },
  validate(text) {
    const parsed = wordLanguage.parse(text);
    const canonical = wordLanguage.canonical(parsed);
    return { valid: canonical !== null, canonical, diagnostics: parsed.diagnostics, root: parsed.root };
  },
  canonical: ({ root, diagnostics }) =>
    root === null || diagnostics.length > 0 ? null : [...new Set(wordsOf(root))].toSorted().join(' '),
  evaluate: (root, payload) => ({
    state: hasWords(textOf(payload), wordsOf(root)) ? 'match' : 'no_match',
    confidence: 'exact',
  }),
  explain(root, payload) {
    const verdict = wordLanguage.evaluate(root, payload);
    const text = textOf(payload);
    const witness = leavesOf(root).map(({ span, test }) => {
      const value = test.type === 'term' ? test.value : '';
      const at = text.toLowerCase().indexOf(value);
      const range: Span = [at, at + value.length];
      return { rule: span, field: 'word', path: 'text', range, value: text.slice(...range) };
    });
    const isMatch = verdict.state === 'match';
    return {
      ...verdict,
      witness: isMatch ? witness : [],
      breakers: [],
      nearMisses: [],
      undecided: [],
    };
  },
  guide: () => ({
    platform: id,
    rule_type: 'regular',
    summary: 'Plain words, all of which must be in the text.',
    grammar_version: '1',
    limits: {},
    precedence: 'There is nothing but words.',
    operators: [],
    pitfalls: [],
    examples: [],
    markdown: 'Plain words.',
  }),
};

function leavesOf(root: Node): LeafNode[] {
  return root.kind === 'and' ? root.children.filter((child) => child.kind === 'leaf') : [];
}

function wordsOf(root: Node): string[] {
  return leavesOf(root).flatMap(({ test }) => (test.type === 'term' ? [test.value] : []));
}

function problemsOf({ span, test }: LeafNode): Diagnostic[] {
  if (test.type === 'term' && /^\w+$/.test(test.value)) return [];
  return [
    { severity: 'error', code: 'not_a_word', message: 'Write words of letters only.', span, fixes: [] },
  ];
}

function textOf(payload: unknown): string {
  return typeof payload === 'object' && payload !== null && 'text' in payload ? String(payload.text) : '';
}
