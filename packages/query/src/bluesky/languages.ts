/** ISO 639-1. A longer code is not checked. */
const twoLetters: ReadonlySet<string> = new Set(
  (
    'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en ' +
    'eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ' +
    'ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ' +
    'ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st ' +
    'su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'
  ).split(' '),
);

/** Old codes, some of which X uses, and the ones that replaced them. */
const current: ReadonlyMap<string, string> = new Map([
  ['iw', 'he'],
  ['in', 'id'],
  ['ji', 'yi'],
]);

const form = /^([a-z]{2,3})(?:-[a-z0-9]{1,8}){0,4}$/;

/** A language tag of BCP 47 as rules and posts are compared: lower case, without outdated codes. */
export function foldLanguage(tag: string): string {
  const lower = tag.toLowerCase();
  const [primary = ''] = lower.split('-', 1);
  const instead = current.get(primary);
  return instead === undefined ? lower : instead + lower.slice(primary.length);
}

export function isLanguageTag(folded: string): boolean {
  const primary = form.exec(folded)?.[1];
  return primary !== undefined && (primary.length === 3 || twoLetters.has(primary));
}

/** What a rule may ask for to match a post with this tag: `zh-hans-cn`, `zh-hans` and `zh`. Null for another form. */
export function languagesOf(tag: string): readonly string[] | null {
  if (tag.length > 64) return null;
  const folded = foldLanguage(tag);
  if (!form.test(folded)) return null;
  const parts = folded.split('-');
  const prefixes = parts.map((_part, index) => parts.slice(0, index + 1).join('-'));
  // Norwegian has two written forms.
  return parts[0] === 'nb' || parts[0] === 'nn' ? [...prefixes, 'no'] : prefixes;
}
