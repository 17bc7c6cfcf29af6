const { raw } = String;
const lines = (text: string): readonly string[] => text.trim().split('\n');

/** Queries that say on X what is meant, by X's documentation of operators. */
export const asWrittenOnX: readonly string[] = lines(raw`
acme outage -is:retweet
"acme sky" (down OR outage) -is:retweet
from:openai has:links
@acmehelp -from:acmehelp
#acme lang:de
$ACME -is:retweet
url:"acme.com/pricing" -is:retweet
conversation_id:1334987486343299072
to:acme has:media
retweets_of:acme
(acme OR "acme sky") -giveaway lang:en
acme place_country:DE
acme followers_count:1000
bio:journalist acme
bio_location:berlin feuer
place:"new york city" outage
障害 (AWS OR GCP)
東京 地震 -is:retweet
"Johnson & Johnson" lawsuit
"Guns and Roses" tour
"Guns N' Roses" tour
"AT&T" (outage OR down)
"now or never" lang:en
Wärmepumpe Förderung lang:de
(Wärmepumpe OR "heat pump") Förderung
acme (lang:en OR lang:de)
(from:acme OR from:foo) release
(#MeToo OR #BLM) -is:retweet
($BTC OR $ETH) -is:retweet
"CVE-2026-1234" -is:retweet
CVE20261234 -is:retweet
"is down" acme
"why is acme so slow"
"alternative to acme" -is:retweet
"anyone know" acme lang:en
acme has:images -has:videos
acme is:verified -is:reply
acme (has:images OR has:videos)
is:reply to:acmehelp
in_reply_to_tweet_id:1334987486343299072
retweets_of_tweet_id:1334987486343299072
url_title:"acme pricing" -is:retweet
acme source:"Twitter for iPhone"
(acme OR foo) (outage OR down OR "not working") -is:retweet lang:en
رياض زحام lang:ar
جدة (مطر OR سيول)
#остановка метро
हैदराबाद बाढ़ lang:hi
acme -(giveaway OR airdrop)
acme -"free trial" -from:acme
point_radius:[13.405 52.52 10km] feuer
bounding_box:[13.3 52.4 13.5 52.6] feuer
👍 acme
acme not working
from:"acme"
url:acme.com/pricing
acme lang:EN
acme -is:retweet OR foo
`);

/** What was written, and a query with the meaning; `-` if X has none. */
export const mistakesOnX: readonly string[] = lines(raw`
acme's pricing → "acme's" pricing
L'Oréal rappel lang:fr → "L'Oréal" rappel lang:fr
#MeToo, #BLM → #MeToo OR #BLM
#MeToo; #BLM; #TimesUp → #MeToo OR #BLM OR #TimesUp
$BTC, $ETH, $SOL → $BTC OR $ETH OR $SOL
$BTC,$ETH → $BTC OR $ETH
@acme, @foo, @bar → @acme OR @foo OR @bar
@acme,@foo -is:retweet → (@acme OR @foo) -is:retweet
"acme sky", "foo bar" → "acme sky" OR "foo bar"
"acme sky","foo bar" lang:en → ("acme sky" OR "foo bar") lang:en
acme, foo, bar → acme OR foo OR bar
acme; foo → acme OR foo
(acme, foo) outage → (acme OR foo) outage
outage (acme, foo, bar) → outage (acme OR foo OR bar)
acme outage, foo outage → (acme outage) OR (foo outage)
東京、大阪 → 東京 OR 大阪
東京，大阪 地震 → (東京 OR 大阪) 地震
الرياض، جدة → الرياض OR جدة
#الرياض، #جدة → #الرياض OR #جدة
acme, #acme, @acme → acme OR #acme OR @acme
acme lang:en, lang:de → acme (lang:en OR lang:de)
acme lang:en,de → acme (lang:en OR lang:de)
acme lang:en,de,fr → acme (lang:en OR lang:de OR lang:fr)
acme lang:(en OR de) → acme (lang:en OR lang:de)
acme lang:(en, de) → acme (lang:en OR lang:de)
from:(acme OR foo) → from:acme OR from:foo
from:(acme OR foo) release → (from:acme OR from:foo) release
acme -from:(foo OR bar) → acme -from:foo -from:bar
to:(acme OR foo) outage → (to:acme OR to:foo) outage
acme has:(images OR videos) → acme (has:images OR has:videos)
acme is:(reply OR quote) → acme (is:reply OR is:quote)
acme place_country:(DE OR AT) → acme (place_country:DE OR place_country:AT)
from:acme,foo → from:acme OR from:foo
from:@acme → from:acme
from: acme → from:acme
to:@acme outage → to:acme outage
from:https://x.com/acme → from:acme
@acme.com → -
elon w/3 musk → "elon musk"~3
elon NEAR musk → "elon musk"~5
elon NEAR/3 musk → "elon musk"~3
"elon" NEAR/5 "musk" → "elon musk"~5
"Acme" "price" ~3 → "Acme price"~3
"Elon Musk" "said"~4 → -
acme near:berlin → -
acme and/or foo → acme OR foo
acme AND/OR foo → acme OR foo
acme and foo → acme foo
acme AND foo → acme foo
acme & foo → acme foo
acme && foo → acme foo
acme | foo → acme OR foo
acme || foo → acme OR foo
acme + foo → acme foo
+acme +foo → acme foo
acme NOT foo → acme -foo
acme AND NOT foo → acme -foo
acme BUT NOT foo → acme -foo
acme !foo → acme -foo
acme - foo → acme -foo
acme NOT (foo OR bar) → acme -foo -bar
acme OR foo -is:retweet → (acme OR foo) -is:retweet
acme OR foo outage → (acme OR foo) outage
outage acme OR foo → outage (acme OR foo)
"acme sky" OR "foo bar" down → ("acme sky" OR "foo bar") down
#acme OR #foo lang:en → (#acme OR #foo) lang:en
acme or foo → acme OR foo
acme Or foo outage → (acme OR foo) outage
Guns and Roses -is:retweet → "Guns and Roses" -is:retweet
Johnson & Johnson lawsuit → "Johnson & Johnson" lawsuit
Procter & Gamble → "Procter & Gamble"
Marks & Spencer outage → "Marks & Spencer" outage
AT&T outage → "AT&T" outage
S&P 500 → "S&P" 500
H&M recall → "H&M" recall
R&D tax → "R&D" tax
C++ jobs → -
C# jobs → -
.NET jobs → -
"C++" jobs → -
node.js vulnerability → "node.js" vulnerability
acme.com outage → "acme.com" outage
CVE-2026-1234 → "CVE-2026-1234"
CVE-2026-* exploit → -
log4j-* → -
climat* → -
acme? → acme
acme! → acme
what is acme? → what is acme
acme (down? OR slow?) → acme (down OR slow)
acme ... outage → acme outage
“acme sky” → "acme sky"
‘acme sky’ → "acme sky"
«acme sky» outage → "acme sky" outage
„acme sky“ → "acme sky"
「東京」 地震 → "東京" 地震
ＡＷＳ　ＯＲ　ＧＣＰ → AWS OR GCP
障害 （AWS OR GCP） → 障害 (AWS OR GCP)
障害（AWS OR GCP） → 障害 (AWS OR GCP)
＃ポケモン → #ポケモン
＠acme 障害 → @acme 障害
acme −is:retweet → acme -is:retweet
acme –is:retweet → acme -is:retweet
acme — foo → -
acme -is:retweets → acme -is:retweet
acme -is:rt → acme -is:retweet
acme -filter:retweets → acme -is:retweet
acme filter:links → acme has:links
acme filter:media → acme has:media
acme filter:replies → acme is:reply
acme exclude:replies → acme -is:reply
acme include:retweets → acme
acme exclude:nativeretweets → acme -is:retweet
acme has:photo → acme has:images
acme has:image → acme has:images
acme has:video → acme has:videos
acme has:link → acme has:links
acme has:url → acme has:links
acme is:replies → acme is:reply
acme is:verify → acme is:verified
acme language:en → acme lang:en
acme language:english → acme lang:en
acme lang:english → acme lang:en
acme lang:en-US → acme lang:en
acme lang:german → acme lang:de
acme country:DE → acme place_country:DE
acme place_country:germany → acme place_country:DE
acme place_country:UK → acme place_country:GB
author:acme → from:acme
by:acme → from:acme
user:acme → from:acme
username:acme outage → from:acme outage
mentions:acme → @acme
mention:acme → @acme
hashtag:acme → #acme
tag:acme → #acme
cashtag:ACME → $ACME
symbol:ACME → $ACME
site:acme.com → url:"acme.com"
domain:acme.com → url:"acme.com"
link:acme.com → url:"acme.com"
url:https://acme.com/pricing → url:"https://acme.com/pricing"
acme since:2026-01-01 → acme
acme until:2026-02-01 → -
acme after:2026-01-01 → acme
acme within_time:2d → -
acme min_faves:10 → -
acme min_retweets:100 → -
acme likes:100 → -
acme followers:1000 → acme followers_count:1000
acme followers_count:>1000 → acme followers_count:1000
acme followers_count:>=1000 → acme followers_count:1000
acme followers_count:1k → acme followers_count:1000
acme followers_count:1,000 → acme followers_count:1000
acme geocode:52.52,13.405,10km → acme point_radius:[13.405 52.52 10km]
feuer point_radius:[13.405,52.52,10km] → feuer point_radius:[13.405 52.52 10km]
feuer point_radius:[13.405 52.52 10] → -
feuer point_radius:[13.405 52.52 100mi] → -
lang:en → -
-is:retweet → -
has:images lang:en → -
is:verified → -
sample:10 → -
acme OR lang:en → -
acme OR -foo → -
-acme → -
-(acme OR foo) → -
acme sentiment:positive → -
acme :( → -
acme "foo → acme "foo"
acme (foo OR bar → acme (foo OR bar)
acme foo OR bar) → -
acme OR → acme
OR acme → acme
acme OR OR foo → acme OR foo
acme () foo → acme foo
"" acme → acme
acme -  → acme
# acme → #acme
acme #  → acme
$ 500 → -
#acme-sky → -
#acme.sky → -
title:acme → -
text:acme → acme
keyword:acme → acme
acme AND is:retweet AND lang:en → acme is:retweet lang:en
from:a AND from:b → from:a OR from:b
from:a from:b release → (from:a OR from:b) release
lang:en lang:de acme → (lang:en OR lang:de) acme
anyone know a good datadog alternative → -
what are people saying about acme → -
looking for a new project management tool → -
posts about acme that are negative → -
tweets from acme about pricing → -
is acme down right now → -
best * for monitoring → -
"best * for monitoring" → -
/acme|foo/ → -
acme~ → -
acme^2 foo → acme foo
acme [NOW-1DAY TO NOW] → -
context:acme → -
conversation_id:abc → -
from:acme_support_team_long → -
from:acme-support → -
`);
