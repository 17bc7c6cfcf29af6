/** When an item was handed to the upstream: between these two moments. */
export interface SentItem {
  readonly sentAfter: number;
  readonly sentBefore: number;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
}

export interface Verdict {
  readonly sent: number;
  readonly listed: number;
  readonly doubled: readonly string[];
  /** Listed, and never sent. */
  readonly strangers: readonly string[];
  /** Not listed, and sent while the ledger says that somebody listened. */
  readonly lost: readonly string[];
  /** Not listed, and the ledger says why. */
  readonly inGaps: number;
}

/**
 * Receipt is a moment later than sending, and proof of listening comes every two seconds: an item counts as sent in a
 * gap when its sending touches the gap widened by this much.
 */
const slackMs = 2_000;

/** What was sent against what a caller can list. The difference must be the ledger's gaps, and nothing else. */
export function compare(
  sent: ReadonlyMap<string, SentItem>,
  listed: readonly string[],
  gaps: readonly Gap[],
): Verdict {
  const seen = new Set<string>();
  const doubled = listed.filter((id) => seen.has(id) || !seen.add(id));
  const missing = [...sent].filter(([id]) => !seen.has(id));
  const lost = missing.filter(([, item]) => !gaps.some((gap) => touches(item, gap)));
  return {
    sent: sent.size,
    listed: listed.length,
    doubled,
    strangers: [...seen].filter((id) => !sent.has(id)),
    lost: lost.map(([id]) => id),
    inGaps: missing.length - lost.length,
  };
}

function touches({ sentAfter, sentBefore }: SentItem, { from, to }: Gap): boolean {
  return sentBefore >= from - slackMs && sentAfter <= to + slackMs;
}

export function isWhole({ doubled, strangers, lost }: Verdict): boolean {
  return doubled.length === 0 && strangers.length === 0 && lost.length === 0;
}
