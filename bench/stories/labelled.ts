/**
 * Items of known events, for `words.ts`: per event a post, another post that links to the first page, a paraphrase, and the titles of two
 * pages. They are modelled on posts and headlines as people write them. Within a rule, neighbouring events share names, places and numbers.
 */
export interface LabelledEvent {
  readonly rule: string;
  readonly texts: readonly [
    post: string,
    sharer: string,
    paraphrase: string,
    page: string,
    otherPage: string,
  ];
}

export const labelledEvents: readonly LabelledEvent[] = [
  {
    rule: 'OpenSSL vulnerability',
    texts: [
      'OpenSSL 3.4.1 is out and fixes CVE-2026-1187, a heap overflow in X.509 name parsing. Patch today.',
      'Heads up: OpenSSL CVE-2026-1187 heap overflow in X.509 parsing fixed in 3.4.1',
      'The certificate parser bug everyone whispered about has a number now: CVE-2026-1187. Updates for OpenSSL are on the mirrors.',
      'OpenSSL patches high-severity heap overflow in certificate parsing (CVE-2026-1187)',
      'High-severity OpenSSL vulnerability lets malicious certificates crash servers',
    ],
  },
  {
    rule: 'OpenSSL vulnerability',
    texts: [
      'OpenSSL 3.4.2 fixes CVE-2026-2291: a timing side channel in ECDSA signing. Rotate keys if you sign on shared hosts.',
      'CVE-2026-2291 in OpenSSL: timing side channel in ECDSA, fixed in 3.4.2',
      'Researchers recovered private keys from a cloud neighbour in under an hour; the ECDSA nonce leak is CVE-2026-2291.',
      'OpenSSL 3.4.2 closes ECDSA timing leak that exposed private keys',
      'Side-channel attack on OpenSSL recovers ECDSA keys from shared cloud hosts',
    ],
  },
  {
    rule: 'OpenSSL vulnerability',
    texts: [
      'OpenSSL project announces end of life for the 3.0 LTS branch in September. Plan your migration to 3.5.',
      'Reminder from the OpenSSL blog: 3.0 LTS reaches end of life this September',
      'No more vulnerability fixes for the long-term branch after September, so distributions have to move to 3.5.',
      'OpenSSL 3.0 LTS support ends in September, project recommends 3.5',
      'What the end of OpenSSL 3.0 means for enterprise Linux',
    ],
  },
  {
    rule: 'Rust release',
    texts: [
      'Announcing Rust 1.97: async closures in traits, faster incremental builds, and a stable portable SIMD subset.',
      'Rust 1.97 has landed! async closures in traits and a first stable slice of portable SIMD',
      'The SIMD types are finally stable, upgraded our image pipeline to 1.97 in ten minutes.',
      'Rust 1.97 stabilizes portable SIMD and async closures in traits',
      'Rust 1.97 arrives with faster incremental compilation',
    ],
  },
  {
    rule: 'Rust release',
    texts: [
      'Rust 1.97.1 fixes a miscompilation on AArch64 that 1.97.0 introduced with the new SIMD lowering.',
      'Point release: Rust 1.97.1 repairs the AArch64 miscompilation from 1.97.0',
      'If your ARM servers returned garbage since last week: it was the compiler. 1.97.1 corrects the vector lowering.',
      'Rust 1.97.1 released to fix AArch64 miscompilation',
      'Compiler bug corrupted vector code on ARM, Rust team ships point release',
    ],
  },
  {
    rule: 'Rust release',
    texts: [
      'The Rust Foundation opens a security fund of $3M for crates.io maintainers, backed by Google and AWS.',
      '$3M security fund for crates.io maintainers announced by the Rust Foundation',
      'Good news for people who keep critical crates alive on weekends: there is money now, three million of it.',
      'Rust Foundation launches $3M fund to secure crates.io',
      'Google and AWS back new fund for Rust package maintainers',
    ],
  },
  {
    rule: 'Berlin airport',
    texts: [
      'Strike at Berlin airport BER on Friday: Verdi calls 2,500 security staff out, most departures cancelled.',
      'Verdi security strike at BER this Friday, 2,500 staff called out',
      'My Friday flight is gone, the union wants four more euros an hour at the checkpoints and bags stay unscreened.',
      'Verdi strike grounds most flights at Berlin airport on Friday',
      'Security staff walk out at BER, airlines cancel hundreds of departures',
    ],
  },
  {
    rule: 'Berlin airport',
    texts: [
      'Berlin airport BER closed its southern runway after a cargo plane burst two tyres on landing. No injuries.',
      'Southern runway at BER shut: cargo plane burst tyres on landing, no one hurt',
      'We circled over Brandenburg for forty minutes because a freighter was stuck on the south strip with flat wheels.',
      'Cargo plane bursts tyres, BER closes southern runway',
      'Runway closure at Berlin airport after freighter landing incident',
    ],
  },
  {
    rule: 'Berlin airport',
    texts: [
      'Ryanair cuts 20% of its Berlin airport winter schedule and blames the aviation tax. Twelve routes disappear.',
      'Twelve routes gone: Ryanair cuts a fifth of its BER winter schedule over aviation tax',
      'O’Leary strikes again, fewer planes based at BER because Germany charges too much per passenger.',
      'Ryanair slashes Berlin winter flights, cites German aviation tax',
      'Berlin loses twelve Ryanair routes in winter timetable',
    ],
  },
  {
    rule: 'Tesla recall',
    texts: [
      'Tesla recalls 218,000 Model 3 and Model Y cars because the rear camera image is delayed. NHTSA filing today.',
      'NHTSA: Tesla recall of 218,000 Model 3 / Model Y over delayed rear camera image',
      'Backing out of my driveway has been blind for seconds since the last update, glad the regulator noticed.',
      'Tesla recalls 218,000 vehicles over rearview camera delay',
      'Rear camera glitch prompts recall of Model 3 and Model Y',
    ],
  },
  {
    rule: 'Tesla recall',
    texts: [
      'Tesla recalls 46,000 Cybertrucks: an exterior panel can come loose while driving. NHTSA filing, free replacement.',
      'Cybertruck recall, 46,000 of them, steel panel may detach says NHTSA',
      'Glue was a choice. Every truck goes back to the shop so that the trim stops flying off on highways.',
      'Tesla recalls 46,000 Cybertrucks over panels that can detach',
      'Loose exterior panels force Cybertruck recall',
    ],
  },
  {
    rule: 'Tesla recall',
    texts: [
      'Tesla opens a second Megapack factory near Houston with 1,500 jobs, production starts next spring.',
      'Megapack factory number two near Houston: Tesla promises 1,500 jobs from spring',
      'Texas gets the grid battery plant after all, hiring begins soon in Waller County.',
      'Tesla to build Megapack factory near Houston, creating 1,500 jobs',
      'Grid battery plant comes to Waller County',
    ],
  },
  {
    rule: 'Kestrel Bank',
    texts: [
      'Kestrel Bank outage: card payments and the app have been down since 07:40, ATM withdrawals still work.',
      'Since 07:40 Kestrel Bank app and card payments are down, cash machines work',
      'Stood at the bakery without bread because my card was declined and the banking app shows a spinner.',
      'Kestrel Bank customers unable to pay by card in morning outage',
      'App and card failure hits Kestrel Bank',
    ],
  },
  {
    rule: 'Kestrel Bank',
    texts: [
      'Regulator fines Kestrel Bank €38 million for weak money-laundering controls between 2021 and 2024.',
      '€38 million fine for Kestrel Bank: weak money-laundering controls, says regulator',
      'Thirty-eight million sounds like a lot until you read what went through those accounts unchecked.',
      'Kestrel Bank fined €38 million over money-laundering controls',
      'Watchdog punishes Kestrel Bank for years of compliance failures',
    ],
  },
  {
    rule: 'Kestrel Bank',
    texts: [
      'Kestrel Bank names Ines Aldana as chief executive; she moves from Santander in March and succeeds Piet Moore.',
      'Ines Aldana leaves Santander to become Kestrel Bank CEO in March',
      'Moore is out, the new boss comes from Madrid and has to fix the app first.',
      'Kestrel Bank appoints Santander executive Ines Aldana as CEO',
      'New chief for Kestrel Bank as Piet Moore steps down',
    ],
  },
  {
    rule: 'Orsted wind',
    texts: [
      'Orsted halts Hornsea 4 offshore wind farm, takes a $620 million write-down because of supply costs.',
      'Hornsea 4 halted: Orsted books $620 million write-down on rising supply costs',
      'Another big offshore project shelved. Turbine prices ate the margin in Yorkshire.',
      'Orsted halts Hornsea 4 and writes down $620 million',
      'Rising costs stop giant offshore wind farm off Yorkshire',
    ],
  },
  {
    rule: 'Orsted wind',
    texts: [
      'Orsted sells half of Hornsea 3 to Apollo for $6.5 billion to shore up its balance sheet.',
      'Apollo buys 50% of Hornsea 3 from Orsted for $6.5 billion',
      'Private equity owns half of the North Sea now, the Danes needed cash quickly.',
      'Orsted sells 50% of Hornsea 3 to Apollo in $6.5 billion deal',
      'Apollo takes stake in North Sea wind giant',
    ],
  },
  {
    rule: 'Lisbon earthquake',
    texts: [
      'Earthquake of magnitude 4.9 felt in Lisbon at 03:12, epicentre 30 km off Sines. No damage reported.',
      'Magnitude 4.9 off Sines at 03:12, felt across Lisbon, no damage',
      'The lamps were swinging and the dog knew before us. Back to sleep, hopefully.',
      'Magnitude 4.9 earthquake off Sines shakes Lisbon',
      'Lisbon woken by tremor, authorities report no damage',
    ],
  },
  {
    rule: 'Lisbon earthquake',
    texts: [
      'Aftershock of magnitude 3.6 near Sines at 05:40, IPMA expects more over the next days.',
      'IPMA: magnitude 3.6 aftershock near Sines at 05:40, more expected',
      'Second one this night, smaller, but everyone in Setúbal is on the street again.',
      'Aftershock near Sines as seismologists expect more tremors',
      'IPMA warns of further shaking after night quake',
    ],
  },
  {
    rule: 'Lisbon earthquake',
    texts: [
      'Lisbon council approves €110 million to retrofit 214 schools against earthquakes by 2031.',
      '€110 million for 214 Lisbon schools: earthquake retrofit approved',
      'Finally the old classrooms in Alfama get steel frames, took the council only ten years.',
      'Lisbon to spend €110 million on making 214 schools quake-proof',
      'Council votes for seismic retrofit of Lisbon schools',
    ],
  },
  {
    rule: 'Nordwind Arena',
    texts: [
      'Nordwind Arena: Aurora Lane adds a second show on 14 June after the first sold out in nine minutes.',
      'Second Aurora Lane show at Nordwind Arena on 14 June, first one sold out in nine minutes',
      'Queue position 41,000 and then gone. At least there is another date now.',
      'Aurora Lane adds second Nordwind Arena date after instant sell-out',
      'Extra concert for Aurora Lane in June',
    ],
  },
  {
    rule: 'Nordwind Arena',
    texts: [
      'Nordwind Arena evacuated during the Aurora Lane soundcheck because of a gas leak in the kitchen, all clear at 17:20.',
      'Gas leak in the kitchen: Nordwind Arena evacuated before Aurora Lane, all clear 17:20',
      'Fire brigade everywhere, 200 crew outside in the rain, doors open an hour late.',
      'Gas leak forces evacuation of Nordwind Arena',
      'Concert delayed after kitchen gas alarm',
    ],
  },
  {
    rule: 'Nordwind Arena',
    texts: [
      'City sells naming rights of the Nordwind Arena to Helio Energy for ten years and €45 million.',
      '€45 million for ten years: Nordwind Arena becomes Helio Energy Dome',
      'No one will ever call it a dome, but the roof gets repaired from the sponsor money.',
      'Helio Energy buys naming rights of Nordwind Arena for €45 million',
      'Arena gets new name in ten-year sponsorship',
    ],
  },
];
