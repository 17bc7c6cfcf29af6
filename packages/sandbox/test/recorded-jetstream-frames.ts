/**
 * Frames of Bluesky's own server, which the frames of the sandbox must resemble. Quoted from the repository
 * bluesky-social/jetstream (MIT or Apache-2.0, copyright Bluesky Social PBC and contributors), commit 9a30defd.
 */

/**
 * Recorded from jetstream1.us-east.bsky.network/subscribe, which has no cursors: internal/subscribe/testdata/golden_v1.jsonl
 * (lines 1, 4, 8, 9) and internal/corpus/testdata/expected_v1.jsonl (lines 2, 26, 131, 145, 148).
 */
export const recordedFrames: readonly string[] = [
  String.raw`{"did":"did:plc:mcc5yghbk7tixqryac2yxku7","time_us":1779719009132431,"kind":"commit","commit":{"rev":"3mmoojp7vgo2g","operation":"create","collection":"app.bsky.feed.like","rkey":"3mmoojp7etg2g","record":{"$type":"app.bsky.feed.like","createdAt":"2026-05-25T14:23:28.778Z","subject":{"cid":"bafyreiaxf7tgbfydx3465sckitq6v564thxe2wwydbi7cwxbxvgssje3em","uri":"at://did:plc:vfnmgxg2yscfliemmcxzyfyh/app.bsky.feed.post/3mmoodizfwc2j"}},"cid":"bafyreidqpc7si3dbimffi64lz3xsx2qt45ip7rpna2qpslcddp23itjjzm"}}`,
  String.raw`{"did":"did:plc:mxwlsvdgs6tn75lq6jrr2vp7","time_us":1779719009140413,"kind":"commit","commit":{"rev":"3mmoojodv7b2s","operation":"create","collection":"app.bsky.graph.follow","rkey":"3mmoojocxvr2s","record":{"$type":"app.bsky.graph.follow","createdAt":"2026-05-25T14:23:27.319Z","subject":"did:plc:anc6s2kher6ltrhhglxrzxsa"},"cid":"bafyreib25swk3a6waplk2ie75u4a3qfejnkoiezfowuz7sa74i7tief3di"}}`,
  String.raw`{"did":"did:plc:dclwtltrt2ggsryagfzk7dp4","time_us":1783175888090631,"kind":"commit","commit":{"rev":"3mptbypcq372f","operation":"create","collection":"app.bsky.feed.post","rkey":"3mptbyoeyc22k","record":{"$type":"app.bsky.feed.post","createdAt":"2026-07-04T14:38:06.240Z","embed":{"$type":"app.bsky.embed.external","external":{"description":"YouTube video by Reuters","thumb":{"$type":"blob","ref":{"$link":"bafkreias7oxbr6swsuggccmtnqpoeami4jza5x4w3urltn6gzhqf4k6k2e"},"mimeType":"image/jpeg","size":119635},"title":"What does America's 250th anniversary mean to Native Americans?","uri":"https://www.youtube.com/watch?v=V5lDo-jw8mA"}},"facets":[{"features":[{"$type":"app.bsky.richtext.facet#link","uri":"https://www.youtube.com/watch?v=V5lDo-jw8mA"}],"index":{"byteEnd":31,"byteStart":0}}],"langs":["en"],"text":"www.youtube.com/watch?v=V5lD..."},"cid":"bafyreiapzyf65cmq55jklpnrihiygze2jmmdqvvkwqeiomd72pbp2iazuu"}}`,
  String.raw`{"did":"did:plc:o2rolxey6s5k7d4lxcz3inl4","time_us":1783175888130414,"kind":"commit","commit":{"rev":"3mptbypnxeq2i","operation":"create","collection":"app.bsky.feed.post","rkey":"3mptbyp7lu223","record":{"$type":"app.bsky.feed.post","createdAt":"2026-07-04T14:38:07.112Z","langs":["ko"],"reply":{"parent":{"cid":"bafyreifzanogmt75wega3mdkjqiv5rg6usowy6hr3nrlvioezvu7jur3cq","uri":"at://did:plc:i5y2f3gtpjxs3qg6fwgb6jb4/app.bsky.feed.post/3mpt7u2vlgs2c"},"root":{"cid":"bafyreifzanogmt75wega3mdkjqiv5rg6usowy6hr3nrlvioezvu7jur3cq","uri":"at://did:plc:i5y2f3gtpjxs3qg6fwgb6jb4/app.bsky.feed.post/3mpt7u2vlgs2c"}},"text":"이쁘시네용~~~"},"cid":"bafyreifq66rnqqmr62ussjdhneebgoeaci5extyyjyqymkqwgtr4667gsi"}}`,
  String.raw`{"did":"did:plc:ajg5c7huhiibhwandhdscpdq","time_us":1783175888352946,"kind":"commit","commit":{"rev":"3mptbypxucc2n","operation":"create","collection":"app.bsky.feed.post","rkey":"3mptbyproxc2q","record":{"$type":"app.bsky.feed.post","createdAt":"2026-07-04T14:38:07.706Z","embed":{"$type":"app.bsky.embed.external","external":{"description":"ALT: Ariana Grande Crying: Acheimagra Stan Twitter","thumb":{"$type":"blob","ref":{"$link":"bafkreidsaqihudsrpyz6zdux3ub6ac7n6v3yghlizhxhob6g6vcwdhqlha"},"mimeType":"image/jpeg","size":119553},"title":"Ariana Grande Crying: Acheimagra Stan Twitter","uri":"https://static.klipy.com/ii/f87f46a2c5aeaeed4c68910815f73eaf/7d/09/g1bpFVOm.gif?hh=498\u0026ww=498\u0026mp4=IrGBygbn\u0026webm=1Tnl61JE"}},"langs":["en"],"reply":{"parent":{"cid":"bafyreibuzazgippf2h364cawv7kdteeakhkpervaymxyy3vh24a6nk6ty4","uri":"at://did:plc:ippiobxpsddnkzd6ms2dbpcy/app.bsky.feed.post/3mptbvznwf22c"},"root":{"cid":"bafyreico54toazdfzwrminpec7fxox3sq54uod7zrv32mpha3qyq3qhese","uri":"at://did:plc:ajg5c7huhiibhwandhdscpdq/app.bsky.feed.post/3mptb7zj4lc2q"}},"text":""},"cid":"bafyreiadcd3p2v6vmsdklvczvoraee4ff7iispmoxfqz3uxcw2bp2dp6cy"}}`,
  String.raw`{"did":"did:plc:ynfp6wddjqpl44gordpsqkuw","time_us":1783175888400999,"kind":"commit","commit":{"rev":"3mptbyplt4524","operation":"create","collection":"app.bsky.feed.post","rkey":"3mptbyo7tas2u","record":{"$type":"app.bsky.feed.post","createdAt":"2026-07-04T14:38:06.071Z","embed":{"$type":"app.bsky.embed.images","images":[{"alt":"","aspectRatio":{"height":889,"width":889},"image":{"$type":"blob","ref":{"$link":"bafkreidrnwt23f7wy7fyfex5acdkxh62wsgpg245ame4c4rogfwb3upyaa"},"mimeType":"image/jpeg","size":187484}}]},"facets":[{"features":[{"$type":"app.bsky.richtext.facet#link","uri":"https://www.tumblr.com/tempo-tales/765681292369166336/behind-them-timmi-and-wankyu-follow-silently-but?source=share"}],"index":{"byteEnd":105,"byteStart":75}},{"features":[{"$type":"app.bsky.richtext.facet#tag","tag":"talesatwonderworld"}],"index":{"byteEnd":126,"byteStart":107}},{"features":[{"$type":"app.bsky.richtext.facet#tag","tag":"balanwonderworldoc"}],"index":{"byteEnd":146,"byteStart":127}}],"langs":["es","en"],"text":"\"Behind them, Timmi and Wanky'u follow silently but as fast as possible.\"\n\nwww.tumblr.com/tempo-tales/...\n\n#talesatwonderworld\n#balanwonderworldoc"},"cid":"bafyreif3yyrzwtq3bc6verdxc764qa3u3lbxrhdyaacgawuke2k36dvu34"}}`,
  String.raw`{"did":"did:plc:4smmjsqf6l5jkzczvw6vsrqc","time_us":1783175888377628,"kind":"commit","commit":{"rev":"3mptbypuw3t2q","operation":"delete","collection":"app.bsky.feed.post","rkey":"3mpt73z3ejc2p"}}`,
  String.raw`{"did":"did:plc:g4ut2w5755qxi3fe7mfs72p4","time_us":1779719010267528,"kind":"identity","identity":{"did":"did:plc:g4ut2w5755qxi3fe7mfs72p4","seq":30340180350,"time":"2026-05-25T14:23:29.950Z"}}`,
  String.raw`{"did":"did:plc:g4ut2w5755qxi3fe7mfs72p4","time_us":1779719010272410,"kind":"account","account":{"active":true,"did":"did:plc:g4ut2w5755qxi3fe7mfs72p4","seq":30340180351,"time":"2026-05-25T14:23:29.950Z"}}`,
];

/** The example of docs/README.md 5.1, with the cursor of the current server; its record is one of those above. */
export const frameWithCursor =
  '{"did":"did:plc:eygmaihciaxprqvxpfvl6flk","time_us":1725911162329308,"cursor":12345,"kind":"commit","commit":{}}';

/** The examples of docs/README.md 5.2. */
export const messageFrame = {
  $type: 'message',
  payload: {
    $type: 'network.bsky.jetstream.subscribeEvents#commit',
    seq: 12345,
    did: 'did:plc:eygmaihciaxprqvxpfvl6flk',
    time: '2024-09-09T19:46:02.329308Z',
    rev: '3l3qo2vutsw2b',
    operation: 'create',
    collection: 'app.bsky.feed.like',
    rkey: '3l3qo2vuowo2b',
    cid: 'bafyreidwaivazkwu67xztlmuobx35hs2lnfh3kolmgfmucldvhd3sgzcqi',
    record: { $type: 'app.bsky.feed.like' },
  },
};
export const errorFrame = { $type: 'error', error: 'ConsumerTooSlow', message: '...' };
