/** A line of a list of matches: Earshot's part and the untrusted part. */
export const line =
  /^(mat_[0-9a-z]+ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (?:x|firehose)(?:\/search)? R\d+(?:\+R\d+)*\??) ((?:@[^ \n]+|-) [^ \n]+ [^\n]*)$/;

/** A line of a match that is shown in full. */
export const fields = /^(handle|name|url|post_id|published_at|language|title|why|\|)(:? [^\n]*)$/;

export interface ReadMatch {
  readonly id: string;
  readonly platform: string;
  readonly via: string;
  /** Ids and versions of the rules, as `rule_… v1`, with their names if the legend has them. */
  readonly rules: readonly string[];
  readonly isUndecided: boolean;
  readonly handle: string | null;
  readonly url: string | null;
  /** Title, if any, and text. Cut text ends with "…". */
  readonly text: string;
}

export interface ReadAnswer {
  readonly counts: { readonly found: number; readonly shown: number; readonly left_out: number };
  /** `next_cursor` or `ack`. */
  readonly cursor: string | null;
  /** The tool's own lines: why there are no matches, coverage, removals. */
  readonly own: string;
  readonly matches: readonly ReadMatch[];
}

const head = /^(\d+) match(?:es)? on this page, (\d+) shown, (\d+) left out\. (?:next_cursor|ack): (.+)$/;

/** Reads a list of matches from the text alone. */
export function readAnswer(text: string): ReadAnswer {
  const [first = '', ...rest] = text.split('\n');
  const [, found, shown, leftOut, cursor = 'none'] = head.exec(first) ?? [];
  if (found === undefined) throw new Error(`no counts: ${first}`);
  const legend = rest.find((one) => one.startsWith('Rules: ')) ?? '';
  const rules = new Map(
    [...legend.matchAll(/(R\d+) = (rule_\w+ v\d+(?: "(?:[^"\\]|\\.)*")?)/g)].map(
      ([, label = '', rule = '']) => [label, rule] as const,
    ),
  );
  return {
    counts: { found: Number(found), shown: Number(shown), left_out: Number(leftOut) },
    cursor: cursor === 'none' ? null : cursor,
    own: rest.filter((one) => !line.test(one)).join('\n'),
    matches: rest.filter((one) => line.test(one)).map((one) => readLine(one, rules)),
  };
}

function readLine(one: string, rules: ReadonlyMap<string, string>): ReadMatch {
  const [id = '', , platform = '', labels = '', handle = '', url = '', ...words] = one.split(' ');
  const [source = '', via = 'stream'] = platform.split('/');
  return {
    id,
    platform: source,
    via,
    rules: labels
      .replace('?', '')
      .split('+')
      .map((label) => rules.get(label) ?? label),
    isUndecided: labels.endsWith('?'),
    handle: handle === '-' ? null : handle.slice(1),
    url: url === '-' ? null : url,
    text: words.join(' '),
  };
}
