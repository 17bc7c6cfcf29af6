/** All people are invented. */
export interface Person {
  readonly username: string;
  readonly name: string;
  readonly lang: string;
  /** Names of topics separated by spaces; `news` means all of them. */
  readonly topics: string;
  readonly verified: boolean;
  readonly description: string;
}

type Row = readonly [username: string, name: string, lang: string, topics: string, description: string];

const newsrooms: readonly Row[] = [
  ['northfieldwire', 'Northfield Wire', 'en', 'news', 'Business and technology news from the north coast.'],
  ['deskofjonah', 'Jonah Mbeki', 'en', 'chips launches', 'Markets desk. Numbers first, adjectives later.'],
  ['mira_okafor', 'Mira Okafor', 'en', 'rockets', 'Space reporter. Coffee, telemetry, more coffee.'],
  ['priya_on_chips', 'Priya Raman', 'en', 'chips', 'Semiconductors, supply chains, the odd recipe.'],
  ['kieler_notizen', 'Kieler Notizen', 'de', 'news', 'Nachrichten von der Küste, ohne Werbung.'],
  ['halbleiter_ina', 'Ina Vogt', 'de', 'chips launches', 'Schreibt über Chips und wer sie baut.'],
  ['lucia_en_orbita', 'Lucía Ferrer', 'es', 'rockets', 'Divulgadora espacial. Miro hacia arriba.'],
  ['golazo_diario', 'Golazo Diario', 'es', 'football', 'Todo el fútbol, sin humo.'],
  ['camille_tech', 'Camille Auriol', 'fr', 'chips launches', 'Journaliste tech. Les puces, les vraies.'],
];

const everyoneElse: readonly Row[] = [
  ['launchpad_lena', 'Lena at the Pad', 'en', 'rockets', 'I photograph things that leave the planet.'],
  ['orbit_dad', 'Orbit Dad', 'en', 'rockets', 'Two kids, one telescope, zero sleep.'],
  ['tomasz_builds', 'Tomasz W.', 'en', 'outages launches', 'Backend engineer. Opinions compiled locally.'],
  ['gridwatch_amy', 'Amy at Gridwatch', 'en', 'outages', 'Watching status pages so you can sleep.'],
  ['quietcoder', 'quiet coder', 'en', 'outages chips', 'mostly lurking'],
  ['shopkeep_ana', 'Ana’s Corner Shop', 'en', 'outages', 'Tea, stamps, and complaints about card readers.'],
  ['wafer_nerd', 'wafer nerd', 'en', 'chips', 'Lithography is just very careful photography.'],
  ['halcyon_updates', 'Halcyon Updates', 'en', 'launches', 'Unofficial news about everything Halcyon.'],
  ['sofia_marlow', 'Sofia Marlow', 'en', 'launches', 'Product designer. Tries every gadget once.'],
  ['redkite_fan', 'Red Kite Till I Die', 'en', 'football', 'Harrowgate United season ticket, row Q.'],
  ['coachbrennan', 'Coach Brennan', 'en', 'football', 'Youth football coach. Press high, be kind.'],
  ['ellis_end', 'The Ellis End', 'en', 'football', 'Port Ellis City fanzine. Mostly sarcasm.'],
  ['jonas_funkt', 'Jonas Reuter', 'de', 'rockets outages', 'Technik, Züge, Raketen. In dieser Reihenfolge.'],
  ['kurvenblick', 'Kurvenblick', 'de', 'football', 'Fußball aus dem Stehblock.'],
  ['mateo_redes', 'Mateo Silvestre', 'es', 'outages launches', 'Redes, servidores y mate.'],
  ['tribune_nord', 'Tribune Nord', 'fr', 'football', 'Le foot amateur et les autres.'],
  ['rafa_em_orbita', 'Rafael Tavares', 'pt', 'rockets outages', 'Foguetes e boas perguntas.'],
  ['bia_no_ar', 'Bia Nogueira', 'pt', 'rockets outages', 'Jornalista de plantão, café no fogo.'],
  ['hoshi_no_mado', '星の窓', 'ja', 'rockets', 'ロケットと星空の記録です。'],
  ['handotai_memo', '半導体メモ', 'ja', 'chips', '半導体の話題を毎日すこしずつ。'],
];

export const people: readonly Person[] = [
  ...newsrooms.map((row) => toPerson(row, true)),
  ...everyoneElse.map((row) => toPerson(row, false)),
];

function toPerson([username, name, lang, topics, description]: Row, verified: boolean): Person {
  return { username, name, lang, topics, verified, description };
}
