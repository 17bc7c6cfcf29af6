const { raw } = String;
const lines = (text: string): readonly string[] => text.trim().split('\n');

/** Queries that say on Firehose what is meant, by its documentation of fields and Lucene's of the syntax. */
export const asWrittenOnFirehose: readonly string[] = lines(raw`
acme AND pricing
acme OR foo
"heat pump" AND language:"en"
(acme OR "acme's") AND outage
title:"acme" AND NOT title:"jobs"
added:"acme" AND page_category:"/News"
removed:"free shipping" AND domain:"shop.example"
"product recall"~3 AND dr:[60 TO *]
acme AND url:*\/press\/*
acme AND recent:7d
acme AND recent:24h
title:acme AND publish_time:[2026-05-01 TO 2026-06-01}
"CVE-2026-1234" AND exploit
domain:acme.com AND title:"pricing"
"acme sky" AND (outage OR breakdown)
acme AND NOT (jobs OR careers)
(title:"northwind" OR title:"contoso") AND language:"de"
"Wärmepumpe" AND "Förderung"
"任天堂" AND "新作"
"東京" AND "地震"
acme AND domain:*.gov
added:acm* AND title:pricing
acme AND page_type:"/Article"
added:/acm[ea]/ AND outage
"alternative to acme"
acme AND -jobs
+acme +outage
title:(acme OR foo)
title:"the acme"
acme AND recent:"7d"
*acme*
acme^5 AND foo
acme~ AND foo
node.js AND vulnerability
acme.com AND outage
acme AND domain:(foo.com OR bar.com)
acme AND domain:www.foo.com
added:(acme AND outage)
`);

/** What was written, and a query with the meaning; `-` if Firehose has none. */
export const mistakesOnFirehose: readonly string[] = lines(raw`
acme pricing → acme AND pricing
aws outage europe → aws AND outage AND europe
datadog alternative → "datadog alternative"
news about acme → -
pricing changes of acme → -
Wärmepumpe UND Förderung → Wärmepumpe AND Förderung
Wärmepumpe ODER Förderung → Wärmepumpe OR Förderung
acme NICHT jobs → acme AND NOT jobs
acme ET panne → acme AND panne
acme OU foo → acme OR foo
acme Y caída → acme AND caída
acme SAUF emploi → acme AND NOT emploi
acme & pricing → acme AND pricing
acme | foo → acme OR foo
acme BUT NOT jobs → acme AND NOT jobs
acme EXCEPT jobs → acme AND NOT jobs
acme not jobs → acme AND NOT jobs
acme AND not jobs → acme AND NOT jobs
acme and pricing → acme AND pricing
acme or foo → acme OR foo
acme And pricing → acme AND pricing
acme, foo, bar → acme OR foo OR bar
acme; foo → acme OR foo
"acme sky", "foo bar" → "acme sky" OR "foo bar"
トヨタ　リコール → "トヨタ" AND "リコール"
トヨタ、ホンダ → "トヨタ" OR "ホンダ"
（トヨタ OR ホンダ） AND リコール → ("トヨタ" OR "ホンダ") AND "リコール"
トヨタ ＡＮＤ リコール → "トヨタ" AND "リコール"
「トヨタ」 AND リコール → "トヨタ" AND "リコール"
"AT&T" → -
"AT&T" AND outage → -
AT&T AND outage → -
"is down" → -
"not available" AND acme → -
"no refunds" AND acme → -
"On Running" → title:"On Running"
"The Who" AND tour → -
"The Who" → -
removed:"in stock" → -
acme AND publish_time:[NOW-1DAY TO NOW] → acme AND recent:1d
acme AND publish_time:[NOW-7DAYS TO NOW] → acme AND recent:7d
acme AND publish_time:[now-7d TO now] → acme AND recent:7d
acme AND publish_time:[now-24h TO *] → acme AND recent:24h
acme AND publish_time:[NOW-1DAY TO *] → acme AND recent:1d
acme AND publish_time:today → -
acme AND publish_time:yesterday → -
acme AND publish_time:NOW-1DAY → -
acme AND publish_time:2026-09 → acme AND publish_time:[2026-09-01 TO 2026-10-01}
acme AND publish_time:[2026-01-01 TO NOW] → acme AND publish_time:[2026-01-01 TO *]
acme AND publish_time:[2026-06-01 TO 2026-05-01] → acme AND publish_time:[2026-05-01 TO 2026-06-02}
acme AND publish_time:>2026-01-01 → acme AND publish_time:{2026-01-01 TO *]
acme AND publish_time:[01/01/2026 TO 02/01/2026] → -
acme AND date:2026-09-01 → -
acme AND after:2026-01-01 → acme AND publish_time:[2026-01-01 TO *]
acme AND before:2026-01-01 → -
acme recent:7d → acme AND recent:7d
acme AND recent:1w → acme AND recent:7d
acme AND recent:2w → acme AND recent:14d
acme AND recent:7 → -
acme AND recent:7days → acme AND recent:7d
acme OR recent:7d → acme AND recent:7d
(acme AND recent:7d) OR foo → -
recent:7d → -
CVE-2026-* AND exploit → -
added:eu-west-* → -
title:heat-pump* → -
added:/\$[0-9]+/ → -
added:/heat pump/ → "heat pump"
added:/CVE-2026-[0-9]+/ → -
acme? AND outage → acme AND outage
a* AND b* → -
acm*e AND → -
domain:*.de → -
domain:*.io → -
domain:*.co.uk AND language:"en" → -
url:*blog* → -
url:*a* → -
title:the AND title:to → -
added:a* AND added:b* → -
page_type:"/Article" → -
language:"en" AND page_category:"/News" → -
dr:[60 TO *] AND language:"en" → -
NOT acme → -
-acme → -
acme AND NOT → -
acme OR NOT foo → acme AND NOT foo
acme AND (NOT jobs AND NOT careers) → acme AND NOT (jobs OR careers)
solar OR wind AND storage → (solar OR wind) AND storage
storage AND solar OR wind → storage AND (solar OR wind)
"acme sky" OR foo AND language:"en" → ("acme sky" OR foo) AND language:"en"
title:heat pump → title:"heat pump"
title:acme sky AND outage → title:"acme sky" AND outage
Johnson & Johnson lawsuit → -
Procter & Gamble AND recall → -
Marks & Spencer → -
S&P 500 → -
H&M AND recall → "H&M" AND recall
C++ AND jobs → -
.NET AND jobs → -
10-K AND acme → "10-K" AND acme
heat-pump → "heat-pump"
title:10-K → title:"10-K"
acme NEAR outage → "acme outage"~5
acme NEAR/5 outage → "acme outage"~5
"acme" NEAR/3 "outage" → "acme outage"~3
acme w/5 outage → "acme outage"~5
acme AROUND(5) outage → "acme outage"~5
"acme" "outage"~4 → -
“acme sky” → "acme sky"
‘acme sky’ AND outage → "acme sky" AND outage
«acme sky» → "acme sky"
„acme sky“ AND outage → "acme sky" AND outage
'acme sky' → "acme sky"
"acme → "acme"
(acme OR foo → (acme OR foo)
acme OR foo) → -
acme AND → -
AND acme → -
acme AND AND foo → acme AND foo
acme OR OR foo → acme OR foo
() AND acme → -
"" AND acme → -
site:acme.com pricing → domain:acme.com AND pricing
site:acme.com AND pricing → domain:acme.com AND pricing
-site:acme.com AND pricing → pricing AND NOT domain:acme.com
intitle:acme → title:acme
allintitle:acme → title:acme
inurl:pricing AND acme → url:*pricing* AND acme
intext:acme → added:acme
text:acme → added:acme
body:acme → added:acme
content:acme → added:acme
headline:acme → title:acme
host:acme.com AND pricing → domain:acme.com AND pricing
lang:en AND acme → language:"en" AND acme
acme AND language:EN → acme AND language:"en"
acme AND language:english → acme AND language:"en"
acme AND language:en-US → acme AND language:"en"
acme AND language:"german" → acme AND language:"de"
acme AND language:e* → -
acme AND language:en,de → acme AND (language:en OR language:de)
acme AND category:"/News" → acme AND page_category:"/News"
acme AND page_category:News → acme AND page_category:"/News"
acme AND page_category:"news" → acme AND page_category:"/News"
acme AND page_category:/News → acme AND page_category:"/News"
acme AND page_category:"/Newz" → acme AND page_category:"/News"
acme AND type:article → acme AND page_type:"/Article"
acme AND page_type:article → acme AND page_type:"/Article"
acme AND page_type:"/article" → acme AND page_type:"/Article"
acme AND filetype:pdf → -
acme AND dr:>60 → acme AND dr:{60 TO *]
acme AND dr:>=60 → acme AND dr:[60 TO *]
acme AND dr:60+ → acme AND dr:[60 TO *]
acme AND dr>60 → acme AND dr:{60 TO *]
acme AND domain_rating:[60 TO *] → acme AND dr:[60 TO *]
acme AND dr:[101 TO *] → -
acme AND country:US → -
acme AND sentiment:negative → -
acme AND quality:true → acme
acme AND domain:https://foo.com → acme AND domain:foo.com
acme AND domain:Foo.com → acme AND domain:foo.com
acme AND domain:foo.com/pricing → -
acme AND domain:"*.foo.com" → acme AND domain:*.foo.com
acme AND domain:foo.com,bar.com → acme AND domain:(foo.com OR bar.com)
acme AND url:foo.com/blog → -
acme AND url:/blog/ → acme AND url:*\/blog\/*
acme AND url:*/blog/* → acme AND url:*\/blog\/*
acme AND url:"*/blog/*" → acme AND url:*\/blog\/*
domain:foo.com AND url:*/pricing* → domain:foo.com AND url:*\/pricing*
bitcoin^2 ethereum → -
from:acme → -
#acme AND outage → -
@acme AND outage → -
$ACME AND earnings → -
acme -is:retweet → acme
acme has:links → -
what does acme cost? → -
alert me when acme raises prices → -
pages that mention acme and foo → -
acme raises prices → -
`);
