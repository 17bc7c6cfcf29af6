const current =
  'am ar hy eu bn bg ca hr cs da nl en et fi fr de ka el gu iw hi hu in it ja kn ko lv lt ml mr no fa pl pt ro ru sr zh-CN sk sl es sv ta te th zh-TW tr uk ur vi';
const older = 'bs my ht hi-Latn is km lo dv ne or pa ps sd si ckb tl bo ug cy';

/** The current documentation lists only the first group (x.md §10.3). */
export const currentLanguages: ReadonlySet<string> = new Set(current.split(' '));
export const olderLanguages: ReadonlySet<string> = new Set(older.split(' '));

const spellings: ReadonlyMap<string, string> = new Map(
  [...currentLanguages, ...olderLanguages].map((code) => [code.toLowerCase(), code]),
);

/** X's spelling of a code given in any letter case. */
export function languageCode(value: string): string | undefined {
  return spellings.get(value.toLowerCase());
}

/** Codes that are often written instead of X's own. */
export const languageInstead: ReadonlyMap<string, string> = new Map([
  ['he', 'iw'],
  ['id', 'in'],
  ['nb', 'no'],
  ['nn', 'no'],
  ['fil', 'tl'],
  ['jp', 'ja'],
  ['kr', 'ko'],
  ['cz', 'cs'],
  ['dk', 'da'],
  ['se', 'sv'],
  ['gr', 'el'],
  ['ua', 'uk'],
  ['br', 'pt'],
  ['cn', 'zh-CN'],
  ['zh', 'zh-CN'],
  ['zh-hans', 'zh-CN'],
  ['tw', 'zh-TW'],
  ['zh-hant', 'zh-TW'],
  ['zh-hk', 'zh-TW'],
  ['english', 'en'],
  ['german', 'de'],
  ['french', 'fr'],
  ['spanish', 'es'],
  ['italian', 'it'],
  ['japanese', 'ja'],
  ['portuguese', 'pt'],
  ['russian', 'ru'],
  ['arabic', 'ar'],
  ['eng', 'en'],
  ['gb', 'en'],
  ['us', 'en'],
]);
