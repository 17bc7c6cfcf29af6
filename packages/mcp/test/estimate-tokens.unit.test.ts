import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { estimateTokens } from '../src/content/estimate-tokens.ts';
import { english } from './nasty-texts.ts';

test.each([
  ['English', english],
  ['German', 'Heute Nachmittag kam es in Berlin zu einem Großbrand, teilte die Feuerwehr mit.'],
  ['Japanese', '地震と津波の速報を知りたい。今日の午後、東京で大きな地震がありました。'],
  ['Chinese', '今天下午北京发生了一场大火，消防员迅速赶到现场。'],
  ['Korean', '오늘 오후 서울에서 큰 화재가 발생했습니다.'],
  ['Russian', 'Сегодня днем в Москве произошел крупный пожар, сообщили власти.'],
  ['Arabic', 'اندلع حريق كبير في القاهرة بعد ظهر اليوم'],
  ['Hindi', 'आज दोपहर दिल्ली में भीषण आग लग गई'],
  ['Thai', 'วันนี้ตอนบ่ายเกิดเพลิงไหม้ใหญ่ในกรุงเทพ'],
  ['emoji', '🚀😀👍🏽🇺🇸🎉'],
  ['ids and times', 'rule_01kb2m8yx4e5r6t7v8w9x0y1z2 mat_00000000000a 2026-11-14T22:46:00.000Z'],
  ['JSON', JSON.stringify({ counts: { found: 3, shown: 2, left_out: 1 }, next_cursor: null, matches: [] })],
])('%s is not counted too low', (_name, text) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(countTokens(text));
});

test('English is not counted more than twice too high', () => {
  expect(countTokens(english) / estimateTokens(english)).toBeGreaterThan(0.5);
});

test('random letters, the worst case, take at most twice the estimate', () => {
  const letters = Array.from({ length: 2_000 }, () => 'qxzjvkwgy'[Math.floor(Math.random() * 9)]).join('');
  expect(countTokens(letters)).toBeLessThanOrEqual(2 * estimateTokens(letters));
});
