/** Sentences by language, with `{placeholders}` that words.ts fills in. All names are invented. */
type Sentences = Readonly<Record<string, readonly [string, ...string[]]>>;

export interface Topic {
  readonly name: string;
  readonly hashtags: readonly [string, ...string[]];
  /** Firehose label of the pages (firehose.md, appendix C). */
  readonly category: string;
  readonly posts: Sentences;
  readonly headlines: Sentences;
  readonly paragraphs: Sentences;
}

const launches: Topic = {
  name: 'launches',
  hashtags: ['NewGear', 'LaunchDay', 'FirstLook'],
  category: '/Computers_and_Electronics/Consumer_Electronics',
  posts: {
    en: [
      '{brand} just announced the {product}. Ships in {month}, {price} dollars. Not sure who asked for this but I want one',
      'Hands on with the new {product} by {brand}: light, fast, and the hinge finally feels right.',
      'The product launch of the {product} starts at {hour} pm. {brand} promises "one more thing" 👀',
      '{brand} cut the price of the {product} to {price} dollars the same day the rival launched. Coincidence?',
      'Pre-orders for the {product} sold out in {minutes} minutes. {brand} {cashtag} up in late trading.',
    ],
    de: [
      '{brand} hat das {product} vorgestellt. Ab {price} Euro, Auslieferung im Herbst.',
      'Erster Eindruck vom neuen {product}: leise, schnell, und endlich ein guter Akku.',
    ],
    es: ['{brand} presenta el {product} por {price} euros. La preventa abre el lunes.'],
    fr: ['{brand} dévoile le {product}. Prix annoncé : {price} euros, livraison cet automne.'],
  },
  headlines: {
    en: [
      '{brand} unveils the {product} at its {city} launch event',
      'Review: the {product} is the best thing {brand} has made in years',
      '{brand} delays the {product} by {minutes} days',
    ],
    de: ['{brand} stellt in {city} das {product} vor'],
  },
  paragraphs: {
    en: [
      '{brand} said on stage in {city} that the {product} will ship in {month} at a price of {price} dollars.',
      'The company expects the product launch to lift sales by {percent} percent in the coming quarter.',
      "Early testers praised the battery, which lasted {hour} hours longer than last year's model.",
    ],
    de: ['Das {product} kommt nach Angaben von {brand} für {price} Euro in den Handel.'],
  },
};

const outages: Topic = {
  name: 'outages',
  hashtags: ['outage', 'StatusPage', 'downtime'],
  category: '/News/Technology_News',
  posts: {
    en: [
      'Is {service} down for anyone else? Getting timeouts since {hour}:{clock}',
      '{service} outage, minute {minutes}: status page still green. Of course it is.',
      'Outage update: {service} says a bad config push in {city} took out logins. Fix is rolling out.',
      '{service} is back. {minutes} minutes of downtime, and my pager has opinions.',
      'Payments through {service} failing across {city}. If you run a shop, keep some cash ready.',
    ],
    de: [
      'Störung bei {service}: seit {hour}:{clock} Uhr keine Anmeldung möglich.',
      '{service} läuft wieder. Laut Betreiber war es ein fehlerhaftes Update.',
    ],
    es: ['¿Se ha caído {service}? Llevo {minutes} minutos sin poder entrar.'],
    pt: ['{service} fora do ar há {minutes} minutos. Alguém mais?'],
  },
  headlines: {
    en: [
      '{service} outage leaves thousands without access for {minutes} minutes',
      'What went wrong: {service} publishes report on its {month} outage',
      '{service} restores service after power failure in {city}',
    ],
    de: ['Störung bei {service}: Ausfall dauerte {minutes} Minuten'],
  },
  paragraphs: {
    en: [
      'The outage began at {hour}:{clock} and affected about {percent} percent of customers, {service} said.',
      'Engineers traced the failure to an expired certificate in the {city} data center.',
      'Service was restored after {minutes} minutes. The operator promised a full report within a week.',
    ],
    de: ['Der Ausfall begann um {hour}:{clock} Uhr und betraf rund {percent} Prozent der Kunden.'],
  },
};

const rockets: Topic = {
  name: 'rockets',
  hashtags: ['rocket', 'liftoff', 'Spaceflight'],
  category: '/Science/Astronomy',
  posts: {
    en: [
      'Liftoff! {rocket} is on its way with {minutes} small satellites on board 🚀',
      'Scrub. {rocket} held at T minus {minutes} seconds, upper level winds again.',
      'The {rocket} rocket rolled out to the pad at {city} this morning. Gorgeous light.',
      'Static fire of {rocket} done: all engines lit, {minutes} seconds. Next stop orbit.',
      'Booster landed! That was flight number {hour} for this rocket. {rocket} makes it look easy 🚀',
    ],
    de: ['Start geglückt: Die Rakete {rocket} ist auf dem Weg in den Orbit 🚀'],
    es: ['Despegue perfecto del cohete {rocket}. Separación confirmada 🚀'],
    pt: ['O foguete {rocket} decolou de {city}. Que imagem!'],
    ja: ['{rocket} ロケットの打ち上げに成功しました。🚀', '本日のロケット打ち上げは強風のため延期です。'],
  },
  headlines: {
    en: [
      '{rocket} rocket reaches orbit on flight {hour}',
      'Launch of {rocket} postponed after sensor fault',
      'Three takeaways from the {rocket} test at {city}',
    ],
    es: ['El cohete {rocket} alcanza la órbita desde {city}'],
  },
  paragraphs: {
    en: [
      'The {rocket} rocket lifted off from {city} at {hour}:{clock} local time carrying {minutes} satellites.',
      'Flight controllers called a hold when a fuel valve reported a pressure {percent} percent above its limit.',
      'A second launch attempt is possible within {hour} days, the operator said.',
    ],
    es: ['El cohete {rocket} despegó a las {hour}:{clock} con {minutes} satélites a bordo.'],
  },
};

const chips: Topic = {
  name: 'chips',
  hashtags: ['semiconductors', 'chips', 'foundry'],
  category: '/Computers_and_Electronics/Computer_Hardware',
  posts: {
    en: [
      '{maker} says its new chip needs {percent}% less power. Independent numbers please. {cashtag}',
      'Chip shortage easing? {maker} lead times down to {minutes} weeks according to two suppliers.',
      '{maker} breaks ground on a chip plant near {city}. {price} jobs, first wafers in {month}.',
      '{cashtag} +{percent}% after {maker} raised its outlook. The chip cycle is turning.',
      'Export rules for advanced chips change again in {month}. {maker} declined to comment.',
    ],
    de: ['{maker} baut bei {city} ein neues Chipwerk. Erste Wafer in zwei Jahren.'],
    fr: ['{maker} investit à {city} : une usine de puces et {price} emplois.'],
    ja: ['{maker} の新しい半導体は消費電力が{percent}%減るそうです。'],
  },
  headlines: {
    en: [
      '{maker} to build chip plant near {city}',
      '{maker} raises forecast as chip demand returns',
      'New chip from {maker} promises {percent} percent lower power draw',
    ],
    de: ['{maker} kündigt Chipwerk bei {city} an'],
    fr: ['{maker} annonce une usine de puces près de {city}'],
  },
  paragraphs: {
    en: [
      '{maker} will spend {price} million dollars on the chip plant near {city}, with production from {month}.',
      'Shares of the chip maker rose {percent} percent after the announcement.',
      'Lead times for automotive chips fell to {minutes} weeks, suppliers said.',
    ],
    de: ['{maker} will bei {city} rund {price} Millionen Euro in das Chipwerk stecken.'],
    fr: ['{maker} prévoit de produire ses premières puces d’ici deux ans.'],
  },
};

const football: Topic = {
  name: 'football',
  hashtags: ['football', 'MatchDay', 'CupNight'],
  category: '/Sports/Team_Sports/Soccer',
  posts: {
    en: [
      'GOAL {club}! Minute {minutes}, header from the corner. The away end is shaking ⚽',
      'Full time: {club} {goals}, {rival} {fewer}. Never at risk (it was very much at risk)',
      'Red card for {rival} after {minutes} minutes. Football is cruel.',
      '{club} sign a {hour}-goal striker from {city} on a three year deal, per two sources.',
      'VAR check taking {hour} minutes now. I have aged. {club} fans know.',
    ],
    de: [
      'TOR für {club}! {minutes}. Minute, was für ein Abschluss ⚽',
      '{club} gewinnt {goals} zu {fewer} gegen {rival}.',
    ],
    es: [
      '¡Gol de {club}! Minuto {minutes} y el estadio explota ⚽',
      'Final: {club} {goals}, {rival} {fewer}.',
    ],
    fr: ['But de {club} à la {minutes}e minute ! Quelle frappe ⚽'],
  },
  headlines: {
    en: [
      '{club} beat {rival} {goals}-{fewer} in cup football thriller',
      '{club} agree deal for {city} striker',
      'Five things we learned from {club} against {rival}',
    ],
    es: ['{club} vence a {rival} por {goals} a {fewer}'],
    de: ['{club} schlägt {rival} mit {goals}:{fewer}'],
  },
  paragraphs: {
    en: [
      '{club} beat {rival} {goals}-{fewer} with a goal after {minutes} minutes.',
      'The football club confirmed that the striker from {city} signed until the end of next season.',
      'Attendance was up {percent} percent on last year.',
    ],
    es: ['{club} ganó con un gol en el minuto {minutes}.'],
    de: ['Das entscheidende Tor fiel in der {minutes}. Minute.'],
  },
};

export const allTopics: readonly [Topic, ...Topic[]] = [launches, outages, rockets, chips, football];
