import type { Random } from '../random.ts';

type Words = readonly [string, ...string[]];

const wordsByPlaceholder: Record<string, Words> = {
  brand: ['Halcyon', 'Brightwell', 'Orrery Labs', 'Tindra', 'Mosswood', 'Kestrel & Co'],
  product: ['Halo 4', 'Fieldbook Air', 'Pebble Cam', 'Tindra Fold', 'Lumen Ring', 'Mosswood Speaker'],
  service: ['Cloudharbor', 'Paylark', 'Mailfinch', 'Streamlet', 'Dockside CI', 'Ridgenet'],
  rocket: ['Petrel 9', 'Gannet Heavy', 'Skua 2', 'Albatross', 'Kittiwake'],
  maker: ['Siltronix', 'Quartzline', 'Nanoforge', 'Veldt Micro', 'Ferrowave'],
  club: ['Harrowgate United', 'Real Marena', 'SC Nordhafen', 'Olympique Valcourt', 'Port Ellis City'],
  rival: ['Westbridge Rovers', 'Atlético Sorrel', 'Eintracht Almstadt', 'Stade Merel', 'Kings Hollow'],
  city: ['Northfield', 'Port Ellis', 'Almstadt', 'Marena', 'Valcourt', 'Cape Durnford', 'Lindenau'],
  month: ['March', 'May', 'June', 'September', 'October', 'November'],
};

const cashtagsByCompany: Record<string, string> = {
  Halcyon: '$HLCN',
  Brightwell: '$BRWL',
  'Orrery Labs': '$ORRY',
  Tindra: '$TNDR',
  Mosswood: '$MSWD',
  'Kestrel & Co': '$KSTL',
  Siltronix: '$SLTX',
  Quartzline: '$QRTZ',
  Nanoforge: '$NANF',
  'Veldt Micro': '$VLDT',
  Ferrowave: '$FRWV',
};

const rangesByPlaceholder: Record<string, readonly [min: number, max: number]> = {
  minutes: [3, 89],
  hour: [2, 12],
  clock: [10, 59],
  percent: [3, 45],
  price: [149, 1_899],
  goals: [2, 5],
  fewer: [0, 1],
};

/** Replaces `{placeholders}`; within one filler a placeholder always gets the same word. */
export function createFiller(random: Random): (template: string) => string {
  const chosen = new Map<string, string>();
  const wordFor = (placeholder: string): string => {
    const word = chosen.get(placeholder) ?? choose(placeholder);
    chosen.set(placeholder, word);
    return word;
  };
  const choose = (placeholder: string): string => {
    // The cashtag of the company in the sentence, also when it comes before the company's name.
    if (placeholder === 'cashtag') return cashtagsByCompany[chosen.get('brand') ?? wordFor('maker')] ?? '';
    const words = wordsByPlaceholder[placeholder];
    const range = rangesByPlaceholder[placeholder];
    if (words !== undefined) return random.pick(words);
    return range === undefined ? placeholder : String(random.integer(...range));
  };
  return (template) =>
    template.replaceAll(/\{([a-z]+)\}/g, (_whole, placeholder: string) => wordFor(placeholder));
}
