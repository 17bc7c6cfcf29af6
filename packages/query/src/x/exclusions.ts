/** What has the first always has the second (x.md §10.2). */
export const implied: ReadonlyMap<string, readonly string[]> = new Map([
  ['has:images', ['has:media', 'has:links']],
  ['has:video_link', ['has:media', 'has:links']],
  ['has:media', ['has:links']],
]);

/** Operators that no retweet satisfies: retweets carry no place. */
export const ofPlaces: ReadonlySet<string> = new Set([
  'has:geo',
  'place',
  'place_country',
  'point_radius',
  'bounding_box',
]);
