/** Everyone here is invented. `verified` also stands for newsrooms. */
export type Person = { username: string; name: string; lang: string; description: string; verified: boolean };

const person = (line: string): Person => {
  const [username = '', name = '', lang = '', description = '', mark] = line.split('|');
  return { username, name, lang, description, verified: mark === 'v' };
};

const LINES: readonly [string, ...string[]] = [
  'mira_okafor|Mira Okafor|en|Space reporter. Coffee, telemetry, more coffee.|v',
  'launchpad_lena|Lena at the Pad|en|I photograph things that leave the planet.',
  'tomasz_builds|Tomasz W.|en|Backend engineer. Opinions compiled locally.',
  'northfieldwire|Northfield Wire|en|Business and technology news from the north coast.|v',
  'gridwatch_amy|Amy at Gridwatch|en|Keeping an eye on status pages so you can sleep.',
  'priya_on_chips|Priya Raman|en|Semiconductors, supply chains, the odd recipe.|v',
  'redkite_fan|Red Kite Till I Die|en|Harrowgate United season ticket, row Q.',
  'deskofjonah|Jonah Mbeki|en|Markets desk. Numbers first, adjectives later.|v',
  'quietcoder|quiet coder|en|mostly lurking',
  'halcyon_updates|Halcyon Updates|en|Unofficial news about everything Halcyon.',
  'sofia_marlow|Sofia Marlow|en|Product designer. Tries every gadget once.',
  'coachbrennan|Coach Brennan|en|Youth football coach. Press high, be kind.',
  'kieler_notizen|Kieler Notizen|de|Nachrichten von der Küste, ohne Werbung.|v',
  'jonas_funkt|Jonas Reuter|de|Technik, Züge, Raketen. In dieser Reihenfolge.',
  'halbleiter_ina|Ina Vogt|de|Schreibt über Chips und wer sie baut.|v',
  'kurvenblick|Kurvenblick|de|Fußball aus dem Stehblock.',
  'lucia_en_orbita|Lucía Ferrer|es|Divulgadora espacial. Miro hacia arriba.|v',
  'golazo_diario|Golazo Diario|es|Todo el fútbol, sin humo.|v',
  'mateo_redes|Mateo Silvestre|es|Redes, servidores y mate.',
  'camille_tech|Camille Auriol|fr|Journaliste tech. Les puces, les vraies.|v',
  'tribune_nord|Tribune Nord|fr|Le foot amateur et les autres.',
  'rafa_em_orbita|Rafael Tavares|pt|Foguetes e boas perguntas.',
  'hoshi_no_mado|星の窓|ja|ロケットと星空の記録です。',
  'handotai_memo|半導体メモ|ja|半導体の話題を毎日すこしずつ。',
];

export const PEOPLE: readonly Person[] = LINES.map(person);
