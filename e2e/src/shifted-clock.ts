/*
 * Preloaded into a program (`--import`) to shift its clock: `new Date()` and `Date.now()` are off by CLOCK_OFFSET_MS. Timers
 * and performance.now() are right, as on a machine whose time of day was set wrongly.
 */
const offsetMs = Number(process.env['CLOCK_OFFSET_MS']);
const RightDate = Date;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RightDate.now() + offsetMs] : args, newTarget),
  get: (target, name, receiver) =>
    name === 'now' ? () => RightDate.now() + offsetMs : Reflect.get(target, name, receiver),
});
