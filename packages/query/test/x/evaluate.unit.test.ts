import { describe, expect, test } from 'vitest';
import { xLanguage } from '../../src/x/language.ts';

type Json = Record<string, unknown>;

function verdict(rule: string, payload: unknown): string {
  const { root } = xLanguage.parse(rule);
  if (root === null) throw new Error(`no tree: ${rule}`);
  const { state, confidence } = xLanguage.evaluate(root, payload);
  return state === 'unknown' ? 'unknown' : `${state} ${confidence}`;
}

const author = {
  id: '11',
  username: 'Acme_Sky',
  name: 'Acme Sky',
  description: 'Glaciologist, north of 70°',
  location: 'North Cape',
  verified: true,
  public_metrics: { followers_count: 1000, following_count: 50, tweet_count: 400, listed_count: 3 },
  affiliation: { user_id: ['99'] },
};

const plain = {
  data: {
    id: '100',
    text: 'Blue ice breaks off the Coca-Cola glacier near #FjordLight $ACME @north_cape https://t.co/a1',
    author_id: '11',
    lang: 'en',
    conversation_id: '77',
    in_reply_to_user_id: '22',
    referenced_tweets: [{ type: 'replied_to', id: '77' }],
    entities: {
      hashtags: [{ tag: 'FjordLight' }],
      cashtags: [{ tag: 'ACME' }],
      mentions: [{ username: 'north_cape', id: '33' }],
      urls: [
        {
          url: 'https://t.co/a1',
          expanded_url: 'https://example.com/Press/Snow',
          title: 'Annual report',
          media_key: 'm1',
        },
      ],
      annotations: [{ normalized_text: 'North Cape' }],
    },
    attachments: { media_keys: ['m1'] },
    context_annotations: [{ domain: { id: '47' }, entity: { id: '5', name: 'Ice' } }],
    geo: { place_id: 'p1', coordinates: { type: 'Point', coordinates: [-21.95, 64.12] } },
  },
  includes: {
    users: [author, { id: '22', username: 'acme_help' }],
    media: [{ media_key: 'm1', type: 'photo' }],
    places: [
      {
        id: 'p1',
        name: 'Reykjavik',
        full_name: 'Reykjavik, Iceland',
        country: 'Iceland',
        country_code: 'IS',
        geo: { bbox: [-22, 64, -21.9, 64.1] },
      },
    ],
  },
};

describe('clauses decided by a delivered post', () => {
  test.each([
    ['glacier', 'match approximate'],
    ['GLACIER', 'match approximate'],
    ['glaciers', 'no_match approximate'],
    ['cola', 'match approximate'],
    ['snow', 'match approximate'],
    ['"coca cola"', 'match approximate'],
    ['"blue breaks"', 'no_match approximate'],
    ['"blue breaks"~1', 'match approximate'],
    ['"blue off"~1', 'no_match approximate'],
    ['"ice blue"~2', 'match approximate'],
    ['"ice blue"~1', 'no_match approximate'],
    ['"breaks blue"~2', 'no_match approximate'],
    ['"breaks blue"~3', 'match approximate'],
    ['#fjordlight', 'match exact'],
    ['#fjord', 'no_match exact'],
    ['$acme', 'match exact'],
    ['@North_Cape', 'match exact'],
    ['@33', 'match exact'],
    ['from:acme_sky', 'match exact'],
    ['from:11', 'match exact'],
    ['from:22', 'no_match exact'],
    ['to:acme_help', 'match exact'],
    ['to:22', 'match exact'],
    ['retweets_of:acme_help', 'no_match exact'],
    ['from_affiliate_of:99', 'match exact'],
    ['from_affiliate_of:98', 'no_match exact'],
    ['from_affiliate_of:acme', 'unknown'],
    ['to_affiliate_of:99', 'unknown'],
    ['url:"example.com/press"', 'match approximate'],
    ['url_contains:"com/pre"', 'match approximate'],
    ['url_contains:nothing', 'no_match approximate'],
    ['url_title:annual', 'match approximate'],
    ['url_title:monthly', 'no_match approximate'],
    ['url_description:annual', 'unknown'],
    ['context:47.*', 'match exact'],
    ['context:*.6', 'no_match approximate'],
    ['entity:"north cape"', 'match approximate'],
    ['entity:"ice"', 'match approximate'],
    ['conversation_id:77', 'match exact'],
    ['in_reply_to_tweet_id:77', 'match exact'],
    ['retweets_of_tweet_id:77', 'no_match exact'],
    ['bio:glaciologist', 'match approximate'],
    ['bio_name:acme', 'match approximate'],
    ['bio_location:"north cape"', 'match approximate'],
    ['place:reykjavik', 'match approximate'],
    ['place:p1', 'match exact'],
    ['place:oslo', 'no_match approximate'],
    ['place_country:is', 'match exact'],
    ['point_radius:[-21.9 64.1 10km]', 'match exact'],
    ['point_radius:[-21.9 64.1 1km]', 'no_match exact'],
    ['bounding_box:[-22 64 -21.9 64.2]', 'match exact'],
    ['is:retweet', 'no_match exact'],
    ['is:reply', 'match exact'],
    ['is:quote', 'no_match exact'],
    ['is:verified', 'match approximate'],
    ['is:nullcast', 'no_match approximate'],
    ['has:hashtags', 'match exact'],
    ['has:links', 'match exact'],
    ['has:media', 'match exact'],
    ['has:images', 'match exact'],
    ['has:video_link', 'no_match exact'],
    ['has:geo', 'match exact'],
    ['lang:en', 'match exact'],
    ['lang:de', 'no_match exact'],
    ['followers_count:500', 'match exact'],
    ['followers_count:1010', 'no_match approximate'],
    ['followers_count:500..5000', 'match exact'],
    ['min_followers:2000', 'no_match exact'],
    ['tweets_count:100', 'match exact'],
    ['following_count:10..20', 'no_match exact'],
    ['listed_count:2', 'match approximate'],
    ['min_likes:1', 'unknown'],
    ['source:"acme poster"', 'unknown'],
    ['sample:10', 'unknown'],
    ['embedding:"ice"', 'unknown'],
    ['glacier sample:10', 'unknown'],
    ['lang:de sample:10', 'no_match exact'],
    ['lang:en OR sample:10', 'match exact'],
    ['-glacier', 'no_match approximate'],
    ['-lang:de', 'match exact'],
  ])('%s is %s', (rule, expected) => {
    expect(verdict(rule, plain)).toBe(expected);
  });
});

function post(data: Json, includes: Json = {}): Json {
  return {
    data: { id: '1', text: '', author_id: '11', ...data },
    includes: { users: [author], ...includes },
  };
}

describe('retweets and quotes', () => {
  const retweet = { text: 'RT @acme: Blue ice brea…', referenced_tweets: [{ type: 'retweeted', id: '2' }] };
  const original = {
    id: '2',
    text: 'Blue ice breaks off',
    author_id: '22',
    entities: { hashtags: [{ tag: 'ice' }] },
  };

  test('a retweet is searched in the retweeted post, which has the whole text', () => {
    expect(verdict('breaks', post(retweet, { tweets: [original] }))).toBe('match approximate');
    expect(verdict('rt', post(retweet, { tweets: [original] }))).toBe('no_match approximate');
    expect(verdict('#ice', post(retweet, { tweets: [original] }))).toBe('match exact');
    expect(verdict('retweets_of:22', post(retweet, { tweets: [original] }))).toBe('match exact');
  });

  test('without the retweeted post a hit counts and a miss decides nothing', () => {
    expect(verdict('blue', post(retweet))).toBe('match approximate');
    expect(verdict('breaks', post(retweet))).toBe('unknown');
    expect(verdict('-breaks', post(retweet))).toBe('unknown');
    expect(verdict('retweets_of:22', post(retweet))).toBe('unknown');
    expect(verdict('is:retweet', post(retweet))).toBe('match exact');
  });

  test('the words of a quoted post count, its author and place do not', () => {
    const quote = post(
      { text: 'Look at this', referenced_tweets: [{ type: 'quoted', id: '2' }] },
      { tweets: [original] },
    );
    expect(verdict('breaks', quote)).toBe('match approximate');
    expect(verdict('look breaks', quote)).toBe('match approximate');
    expect(verdict('from:22', quote)).toBe('no_match exact');
    expect(verdict('is:quote', quote)).toBe('match exact');
    expect(verdict('nothing', post({ text: 'Look', referenced_tweets: [{ type: 'quoted', id: '2' }] }))).toBe(
      'unknown',
    );
  });

  test('a retweet of a reply counts as a reply, with less confidence', () => {
    const reply = { ...original, referenced_tweets: [{ type: 'replied_to', id: '3' }] };
    expect(verdict('is:reply', post(retweet, { tweets: [reply] }))).toBe('match approximate');
    expect(verdict('has:geo', post({ ...retweet, geo: { place_id: 'p' } }, { tweets: [original] }))).toBe(
      'no_match exact',
    );
  });

  test('reads both vocabularies of X', () => {
    const renamed = post(
      { text: 'RT …', referenced_posts: [{ type: 'retweeted', id: '2' }] },
      { posts: [original] },
    );
    expect(verdict('breaks is:retweet', renamed)).toBe('match approximate');
    expect(verdict('tail', post({ text: 'Head…', note_post: { text: 'Head and tail' } }))).toBe(
      'match approximate',
    );
  });
});

describe('clauses that the payload does not decide', () => {
  test('a long post is searched in its whole text', () => {
    expect(verdict('tail', post({ text: 'Head…', note_tweet: { text: 'Head and tail' } }))).toBe(
      'match approximate',
    );
  });

  test('tags are looked up in the text when entities were not delivered', () => {
    expect(verdict('#ice', post({ text: 'blue #Ice!' }))).toBe('match approximate');
    expect(verdict('#ice', post({ text: 'blue #icebergs' }))).toBe('no_match approximate');
    expect(verdict('#ice', post({ text: 'no tag' }))).toBe('no_match exact');
    expect(verdict('has:hashtags', post({ text: 'blue #ice' }))).toBe('unknown');
  });

  test('the script of Chinese posts is undecided', () => {
    expect(verdict('lang:zh-CN', post({ lang: 'zh' }))).toBe('unknown');
    expect(verdict('lang:en', post({}))).toBe('unknown');
  });

  test('words are found inside runs of scripts without spaces', () => {
    expect(verdict('氷河', post({ text: '今日は氷河を見た' }))).toBe('match approximate');
    expect(verdict('火山', post({ text: '今日は氷河を見た' }))).toBe('no_match approximate');
    expect(verdict('ice', post({ text: '今日はICEを見た' }))).toBe('match approximate');
    expect(verdict('ice', post({ text: '今日はicebergを見た' }))).toBe('no_match approximate');
  });

  test('links that X adds for media and quotes are not words of the author', () => {
    const added = { url: 'https://t.co/b', expanded_url: 'https://x.com/acme_sky/status/42/photo/1' };
    const own = { url: 'https://t.co/c', expanded_url: 'https://status.example/photo' };
    const item = (link: object) => post({ text: 'Snow https://t.co/b', entities: { urls: [link] } });
    expect(verdict('snow -photo', item(added))).toBe('match approximate');
    expect(verdict('status', item(added))).toBe('no_match approximate');
    expect(verdict('snow -photo', item(own))).toBe('no_match approximate');
    expect(verdict('url:"x.com"', item(added))).toBe('match approximate');
  });

  test('a post with the account that it replies to is a reply', () => {
    expect(verdict('is:reply', post({ in_reply_to_user_id: '22' }))).toBe('match exact');
  });

  test('an emoji with a skin tone is undecided', () => {
    expect(verdict('👍', post({ text: 'Great 👍🏽' }))).toBe('unknown');
    expect(verdict('👍', post({ text: 'Great 👎🏽' }))).toBe('no_match approximate');
  });

  test('a GIF is undecided as image and as video', () => {
    const gif = post(
      { attachments: { media_keys: ['m'] } },
      { media: [{ media_key: 'm', type: 'animated_gif' }] },
    );
    expect(verdict('has:images', gif)).toBe('unknown');
    expect(verdict('has:video_link', gif)).toBe('unknown');
    expect(verdict('has:media', gif)).toBe('match exact');
    expect(verdict('has:images', post({ attachments: { media_keys: ['m'] } }))).toBe('unknown');
  });

  test('a tagged place decides by its box, approximately', () => {
    const tagged = post({ geo: { place_id: 'p1' } }, { places: plain.includes.places });
    expect(verdict('bounding_box:[-22.1 63.9 -21.8 64.2]', tagged)).toBe('match approximate');
    expect(verdict('bounding_box:[-21.95 63.9 -21.8 64.2]', tagged)).toBe('no_match approximate');
    expect(verdict('place_country:is', post({ geo: { place_id: 'p1' } }))).toBe('unknown');
    expect(verdict('place_country:is', post({}))).toBe('no_match exact');
  });

  test.each([
    [undefined],
    [null],
    [1],
    ['text'],
    [[]],
    [{}],
    [{ data: null }],
    [{ data: { text: 5, entities: [], referenced_tweets: 'x' } }],
  ])('does not throw on the payload %j', (payload) => {
    for (const rule of [
      'ice',
      '#ice',
      'from:a',
      'lang:en',
      'has:media',
      'place:x',
      'is:reply',
      'bio:x',
      'context:1.*',
    ]) {
      expect(verdict(rule, payload)).toMatch(/^(no_match|unknown)/);
    }
  });
});
