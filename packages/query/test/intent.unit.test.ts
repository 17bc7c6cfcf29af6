import { expect, test } from 'vitest';
import { checkIntent } from '../src/intent.ts';

const codesOf = (intent: string) => checkIntent(intent).map(({ code }) => code);

test.each(['', 'rockets', 'Rocket launches', "SpaceX's launches"])('"%s" is too short', (intent) => {
  expect(codesOf(intent)).toEqual(['intent_too_short']);
});

test.each([
  'Know about launches before the news does',
  'Follow new Rust releases and the problems that people have with them.',
  'Problemas con los pedidos de la tienda',
  'Neue Notizen über den Konzern Apple',
])('"%s" says nothing about what to ignore', (intent) => {
  expect(codesOf(intent)).toEqual(['intent_without_exclusion']);
});

test.each([
  'Apple the company, not the fruit',
  'Outages that customers report; ignore status pages',
  "News on Rust that isn't about the game",
  'Launches of rockets except those of amateurs',
  'Nachrichten über Apple, aber NICHT über Obst',
  'Beschwerden über Bahnfahrten außer Werbung',
  'Les annonces d’Apple, pas celles des revendeurs',
  'Noticias sobre Apple sin opiniones ni ofertas',
  'Notícias sobre a Apple, mas não sobre frutas',
  'Notizie su Apple, tranne le offerte',
])('"%s" says what to ignore', (intent) => {
  expect(codesOf(intent)).toEqual([]);
});

test.each(['アップル社のニュース', 'Новости', 'أخبار'])(
  '"%s" is in another script, and gets no hint',
  (intent) => {
    expect(codesOf(intent)).toEqual([]);
  },
);
