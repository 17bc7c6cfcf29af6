import type { MatchPayload, Mute, MuteField } from '@earshot/contract';

/** A mute, prepared to be compared with many matches. */
export interface PreparedMute {
  readonly id: string;
  readonly ruleId: string | null;
  readonly field: MuteField;
  readonly value: string;
}

/** The id of the first mute that hides the match; null if none does. */
export function muteOf(
  mutes: readonly PreparedMute[],
  match: { readonly rule_id: string; readonly payload: MatchPayload },
): string | null {
  if (mutes.length === 0) return null;
  const item = comparable(match.payload);
  for (const { id, ruleId, field, value } of mutes)
    if ((ruleId === null || ruleId === match.rule_id) && hides[field](item, value)) return id;
  return null;
}

/** What mutes are compared with, made at most once for all of them. */
function comparable({ author, url, title, text }: MatchPayload) {
  let folded: string | undefined;
  return {
    authors: [author?.handle?.toLowerCase(), author?.id],
    domain: domainOf(url),
    get words(): string {
      folded ??= words([title, text].join('\n'));
      return folded;
    },
  };
}

const hides: Readonly<Record<MuteField, (item: ReturnType<typeof comparable>, value: string) => boolean>> = {
  author: ({ authors }, value) => authors.includes(value),
  domain: ({ domain }, value) => domain !== null && (domain === value || domain.endsWith(`.${value}`)),
  phrase: (item, value) => item.words.includes(value),
};

/** In the form in which values are compared and stored. Null if nothing could have it. */
export function normalizeMuted(field: MuteField, value: string): string | null {
  switch (field) {
    case 'author':
      return value.trim().replace(/^@/, '').toLowerCase() || null;
    case 'domain':
      return domainOf(value.includes('://') ? value : `https://${value}`);
    case 'phrase': {
      const phrase = words(value);
      return phrase.trim() === '' ? null : phrase;
    }
  }
}

/** The host of a URL in lower case, without `www.`; null if it has none. */
export function domainOf(url: string | null): string | null {
  const host = url === null ? undefined : URL.parse(url.trim())?.hostname;
  return host?.replace(/^www\./, '') || null;
}

/** Scripts that are written without spaces: each character counts as a word. */
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;

/** The words with one space around each, so that a phrase is found as whole words. */
function words(text: string): string {
  const spaced = text.normalize('NFKC').toLowerCase().replace(unspaced, ' $& ');
  const found = spaced.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  return ` ${found.join(' ')} `;
}

export function fieldsOf({ field, value }: Pick<PreparedMute, 'field' | 'value'>): Pick<Mute, MuteField> {
  return { author: null, domain: null, phrase: null, [field]: field === 'phrase' ? value.trim() : value };
}
