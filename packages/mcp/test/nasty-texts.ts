import * as fc from 'fast-check';

/** Plain English, as posts and pages have it; written for these tests. */
export const english = [
  'Breaking: the rocket launch from the new coastal site was delayed again on Tuesday after engineers found a leak in one of the fuel lines.',
  'The company said the next attempt could come as early as Friday morning, weather permitting. Residents had gathered on the beach before dawn to watch.',
  '"We will try again when the vehicle is ready," a spokesperson said. Local officials asked drivers to avoid the highway until the road reopens.',
  'Prices for hotel rooms in the area have doubled since last week, and several families said they plan to stay through the weekend no matter what happens.',
  'I cannot believe how good this little coffee place around the corner is. Ten out of ten, would stand in line for it again!',
].join(' ');

const unit = (characters: string): fc.Arbitrary<string> => fc.constantFrom(...Array.from(characters));

const units: readonly fc.Arbitrary<string>[] = [
  unit('abcdefghijklmnopqrstuvwxyz '),
  unit('qxzjvkwgy'),
  unit('QXZJVKWGYqxzjvkwgy'),
  unit('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='),
  unit('0123456789 .,'),
  unit(' \n\t\r\u00a0\u2003\u3000'),
  unit('{}[]":,\\/<>|`~^%$#@!&*()-_=+;\''),
  unit('漢字仮名交錯齉龘鬱ひらがなカタカナ한국어뷁쀍'),
  unit('éüßñçøÅÆŐőžđ'),
  unit('абвгдежѝѢ ΑΒγδ שלום ابتث नमस्ते ไทย ქართ'),
  fc.constantFrom('🚀', '😀', '👩‍👩‍👧', '❤️', '🇺🇸', '🏴', '👍🏽', '1️⃣', '🫨', '🪿'),
  unit('\u202e\u200b\u200d\u00ad\ufeff\u{e0041}\u0000\u001b\u2028'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  // Half of a surrogate pair.
  fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
  fc.constantFrom(
    "it's",
    " don't",
    ' the',
    ' rocket',
    'THE',
    'camelCase',
    'snake_case',
    '://',
    '\r\n',
    '\n\n',
  ),
];

/** Of one kind of characters, or of several. */
export function nastyText(lengthMax: number): fc.Arbitrary<string> {
  const some = fc.subarray([...units], { minLength: 1, maxLength: 3 });
  return some.chain((kinds) =>
    fc.array(fc.oneof(...kinds), { maxLength: lengthMax, size: 'max' }).map((parts) => parts.join('')),
  );
}
