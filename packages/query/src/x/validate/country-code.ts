import { certain, error, replacement } from '../../diagnostics.ts';
import type { LeafRule } from './rule.ts';

const instead: ReadonlyMap<string, string> = new Map([
  ['uk', 'gb'],
  ['usa', 'us'],
  ['england', 'gb'],
  ['germany', 'de'],
  ['france', 'fr'],
  ['japan', 'jp'],
  ['brazil', 'br'],
  ['canada', 'ca'],
  ['india', 'in'],
  ['norway', 'no'],
]);

/** ISO 3166-1 alpha-2, and Kosovo's user-assigned code, which X uses. */
const codes: ReadonlySet<string> = new Set(
  (
    'ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs ' +
    'bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee ' +
    'eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm ' +
    'hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc ' +
    'li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na ' +
    'nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw ' +
    'sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to ' +
    'tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws xk ye yt za zm zw'
  ).split(' '),
);

/** The list is closed: another code never matches. */
export const countryCode: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '') return;
  const { value } = leaf.test;
  const code = instead.get(value);
  if (code === undefined && codes.has(value)) return;
  const message = `place_country: takes a two-letter ISO code, for example us or de${code === undefined ? '' : `; here ${code}`}.`;
  const fixes = code === undefined ? [] : [certain(replacement(`Write ${code}`, leaf.valueSpan, code))];
  view.report(error('bad_country', message, leaf.valueSpan, fixes));
};
