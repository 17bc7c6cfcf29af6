/** When an item was sent to the upstream: between these two moments. */
export interface SentItem {
  readonly sentAfter: number;
  readonly sentBefore: number;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly reason: string | null;
  /** The state of its repair, and why it waits or is impossible. */
  readonly repair: string | null;
}

export interface Verdict {
  readonly sent: number;
  readonly listed: number;
  readonly doubled: readonly string[];
  /** Listed, but never sent. */
  readonly unknown: readonly string[];
  /** Not listed, and sent while the ledger reports the source as connected. */
  readonly lost: readonly string[];
  /** Not listed, and sent in a gap of the ledger. */
  readonly inGaps: number;
  /** Unrepaired gaps in which everything is listed that was sent more than `slackMs` from their ends. */
  readonly falseGaps: readonly Gap[];
}

/**
 * An item is received a moment after it is sent, and the ledger is proven every two seconds: an item counts as sent in a
 * gap if its sending touches the gap widened by this much.
 */
const slackMs = 2_000;

/**
 * Compares what was sent with what a caller can list. The difference must be exactly the ledger's gaps. A platform that replays what a
 * source has missed must lose nothing in them either.
 */
export function compare(
  sent: ReadonlyMap<string, SentItem>,
  listed: readonly string[],
  { gaps, isReplayed }: { readonly gaps: readonly Gap[]; readonly isReplayed: boolean },
): Verdict {
  const seen = new Set<string>();
  const doubled = listed.filter((id) => seen.has(id) || !seen.add(id));
  const missing = [...sent].filter(([id]) => !seen.has(id));
  const lost = missing.filter(([, item]) => isReplayed || !gaps.some((gap) => touches(item, gap)));
  const isFalse = (gap: Gap) => {
    const inside = [...sent].filter(([, item]) => isInside(item, gap));
    return inside.length > 0 && inside.every(([id]) => seen.has(id));
  };
  return {
    sent: sent.size,
    listed: listed.length,
    doubled,
    unknown: [...seen].filter((id) => !sent.has(id)),
    lost: lost.map(([id]) => id),
    inGaps: missing.length - lost.length,
    falseGaps: gaps.filter(isFalse),
  };
}

function isInside({ sentAfter, sentBefore }: SentItem, { from, to }: Gap): boolean {
  return sentAfter > from + slackMs && sentBefore < to - slackMs;
}

function touches({ sentAfter, sentBefore }: SentItem, { from, to }: Gap): boolean {
  return sentBefore >= from - slackMs && sentAfter <= to + slackMs;
}

export function isWhole({ doubled, unknown, lost }: Verdict): boolean {
  return doubled.length === 0 && unknown.length === 0 && lost.length === 0;
}
