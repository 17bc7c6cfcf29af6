import type { Platform } from '@earshot/contract';
import { createFirehoseRules } from '../adapters/firehose/rules.ts';
import { createFirehoseStream } from '../adapters/firehose/stream.ts';
import { createSourceStore } from '../adapters/postgres/source-store.ts';
import { createUpstreamClient } from '../adapters/upstream/client.ts';
import { createFreeSlot } from '../adapters/x/connections.ts';
import { createXRecovery } from '../adapters/x/recovery.ts';
import { createXRules } from '../adapters/x/rules.ts';
import { createXSearch } from '../adapters/x/search.ts';
import { createXStream } from '../adapters/x/stream.ts';
import type { Config } from '../config.ts';
import type { PostSearch } from '../coverage/post-search.ts';
import type { Recovery } from '../coverage/recover-gap.ts';
import type { Protocol } from '../ingest/connector.ts';
import { firehoseProtocol } from '../ingest/firehose-protocol.ts';
import type { UpstreamStream } from '../ingest/upstream-stream.ts';
import { xProtocol } from '../ingest/x-protocol.ts';
import type { UpstreamRules } from '../slots/upstream-rules.ts';
import type { Shared } from './shared.ts';

export interface Source {
  readonly id: string;
  readonly platform: Platform;
  readonly capacity: number;
  readonly rules: UpstreamRules;
  readonly stream: UpstreamStream;
  readonly protocol: Protocol;
  readonly freeSlot: ((signal: AbortSignal) => Promise<number>) | null;
  /** What fills the gaps of a stream that does not resume by itself; null where it does. */
  readonly repair: { readonly search: PostSearch; readonly recovery: Recovery } | null;
}

/** The configured credentials, each with its clients, made known to all nodes. */
export async function openSources(shared: Shared, stack: AsyncDisposableStack): Promise<Source[]> {
  const sources = [...xSources(shared.config, stack), ...firehoseSources(shared.config, stack)];
  const { drainSources } = shared.config;
  const unknown = drainSources.filter((id) => !sources.some((source) => source.id === id));
  if (unknown.length > 0) shared.log.warn({ unknown }, 'sources to drain that this node does not have');
  await createSourceStore(shared.database).announce(
    sources.map((source) => ({ ...source, draining: drainSources.includes(source.id) })),
  );
  return sources;
}

function xSources(config: Config, stack: AsyncDisposableStack): Source[] {
  return config.xTokens.map(({ name, token }) => {
    const client = stack.use(createUpstreamClient({ baseUrl: config.xBaseUrl, token, name: 'X' }));
    return {
      id: `x:${name}`,
      platform: 'x',
      capacity: config.xRuleCapacity,
      rules: createXRules(client, { pace: config.upstreamPace }),
      stream: createXStream(client),
      protocol: atPace(xProtocol, config),
      freeSlot: createFreeSlot(client),
      repair: { search: createXSearch(client), recovery: createXRecovery(client) },
    };
  });
}

function firehoseSources(config: Config, stack: AsyncDisposableStack): Source[] {
  return config.firehoseTokens.map(({ name, token }) => {
    const client = stack.use(
      createUpstreamClient({ baseUrl: config.firehoseBaseUrl, token, name: 'Firehose' }),
    );
    return {
      id: `firehose:${name}`,
      platform: 'firehose',
      capacity: config.firehoseRuleCapacity,
      rules: createFirehoseRules(client, { pace: config.upstreamPace }),
      stream: createFirehoseStream(client),
      protocol: atPace(firehoseProtocol, config),
      freeSlot: null,
      repair: null,
    };
  });
}

function atPace(protocol: Protocol, { upstreamPace }: Config): Protocol {
  const { connects } = protocol;
  return { ...protocol, connects: { ...connects, windowMs: connects.windowMs / upstreamPace } };
}
