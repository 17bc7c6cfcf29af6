/** One of each kind of clause, and what was once an attack. */
const page = {
  matched_at: '2026-05-02T08:00:00Z',
  document: {
    url: 'https://a.b.example.com/press/2026?q=aaaaaaaaaaaa',
    title: 'solar heat pump',
    language: 'en',
    publish_time: '2026-05-01T08:00:00',
    page_category: ['/News/Politics', '/Science'],
    page_types: ['/Article/How_to'],
    domain_rating: 40,
    diff: {
      chunks: [
        { typ: 'ins', text: 'aaaaaaaaaaaa solar heat pump a b a b' },
        { typ: 'del', text: 'wind' },
      ],
    },
  },
};

export const firehoseSeeds = [
  `added:/${'a?'.repeat(300)}x/`,
  'added:/.*a.{40}c/ OR added:/.*b.{41}c/',
  'added:/(a|b)*a(a|b){90}/',
  'title:/~(.*a.{12}b)c~(.*a.{12}c)/',
  'added:"a b a b a b"~9999',
  'added:"solar heat pump"~5',
  `url:*${'a'.repeat(300)}b`,
  'url:*a*b*c?d*',
  'added:solar~2 OR title:pump~1 OR added:aaaaaaaaaaab~2',
  'added:so* OR removed:w?nd',
  'added:"solar heat" AND NOT removed:wind',
  'domain:example.com AND language:en AND page_category:"/News"',
  'publish_time:[2026-05-01 TO 2026-05-31] AND recent:7d',
  'added:[a TO m] OR url:[a TO z]',
].map((rule) => ({ rule, item: page }));

const post = {
  data: {
    id: '1',
    text: 'glacier lake 氷河 ice #snow @bob $ABC a b a b https://t.co/x',
    author_id: '7',
    lang: 'en',
    conversation_id: '1',
    created_at: '2026-05-02T08:00:00.000Z',
    source: 'Web App',
    in_reply_to_user_id: '8',
    geo: { place_id: 'p1', coordinates: { coordinates: [1, 2] } },
    referenced_tweets: [{ type: 'retweeted', id: '2' }],
    attachments: { media_keys: ['m1', 'm2'] },
    context_annotations: [{ domain: { id: '1' }, entity: { id: '2', name: 'Ice' } }],
    entities: {
      hashtags: [{ tag: 'snow' }],
      mentions: [{ username: 'bob', id: '8' }],
      urls: [
        { url: 'https://t.co/x', expanded_url: 'https://example.com/a', title: 'ice', description: 'lake' },
      ],
      annotations: [{ normalized_text: 'Ice' }],
    },
  },
  includes: {
    users: [
      {
        id: '7',
        username: 'ann',
        name: 'Ann',
        description: 'a b a b',
        public_metrics: { followers_count: 9 },
        affiliation: { user_id: ['8'] },
      },
      { id: '8', username: 'bob' },
    ],
    tweets: [{ id: '2', text: '氷河 a b #snow', author_id: '8', entities: { hashtags: [{ tag: 'ice' }] } }],
    media: [{ media_key: 'm1', type: 'photo' }],
    places: [{ id: 'p1', full_name: 'Ice Town', country_code: 'IS', geo: { bbox: [0, 0, 1, 1] } }],
  },
};

export const xSeeds = [
  '"a b a b"~400',
  'glacier OR "ice lake" OR 氷 OR 氷河',
  '#snow OR @bob OR $ABC',
  'from:ann OR to:bob OR retweets_of:bob OR from:7',
  'url:"example.com" OR url_contains:ex OR url_title:ice OR url_description:lake',
  'context:1.* OR entity:"Ice" OR place:"Ice Town" OR place_country:IS',
  'bio:"a b" OR bio_name:ann OR bio_location:x OR from_affiliate_of:bob',
  'has:hashtags has:links has:images -has:video_link is:retweet',
  'point_radius:[1 2 3km] OR bounding_box:[0 0 1 1] OR has:geo',
  'lang:en followers_count:1..10 -is:reply',
].map((rule) => ({ rule, item: post }));
