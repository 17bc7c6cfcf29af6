import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import { done, matchLine, type Rows, saying } from './scene.ts';

export const matchesRows: Rows = {
  async 'matches list'(earshot, scene) {
    await scene.world.sandbox.posts(['the comet is here']);
    await eventually(async () => expect(await earshot()).toEqual(done(expect.stringMatching(matchLine))), {
      timeoutMs: 60_000,
    });
    expect(await earshot.json('--rule', scene.rule.rule_id)).toMatchObject({
      matches: [{ rule_id: scene.rule.rule_id, payload: { text: 'the comet is here' } }],
      coverage: { complete_through: expect.any(String) },
    });
    const none = await earshot('--rule', scene.rule.rule_id, '--platform', 'firehose', '--until', '1d');
    expect(none).toEqual(done(saying('There are no such matches.')));
  },

  async 'matches count'(earshot, scene) {
    const own = ['--rule', scene.rule.rule_id];
    expect(await earshot(...own)).toEqual(done(expect.stringMatching(/^FROM +MATCHES\n[^]+\n\n1 match\.$/m)));
    expect(await earshot(...own, '--by', 'rule')).toEqual(
      done(expect.stringMatching(new RegExp(`${scene.rule.rule_id} +1 +[▁█]+\\n\\n1 match\\.`))),
    );
    expect(await earshot.json(...own, '--from', '1h', '--step', '3600', '--by', 'platform')).toMatchObject({
      step: 3_600,
      series: [{ platform: 'x', counts: [1] }],
    });
    expect(await earshot('--from', '2d', '--to', '1d')).toEqual(
      done(saying('There are no matches in this time.')),
    );
    expect(await earshot('--step', '1')).toMatchObject({ code: 5 });
  },

  async 'matches tail'(earshot, scene) {
    const words = ['--rule', scene.rule.rule_id, '--since', '1h', '--limit', '1'];
    expect(await earshot(...words)).toEqual(done(expect.stringMatching(matchLine)));
    expect(await earshot.json(...words)).toMatchObject({ payload: { text: 'the comet is here' } });
    const coloured = await earshot.with({ env: { FORCE_COLOR: '1' } }, ...words);
    expect(coloured.stdout).toContain('the \u001b[1m\u001b[33mcomet\u001b[39m\u001b[22m is here');
    const plain = await earshot.with({ env: { FORCE_COLOR: '1' } }, ...words, '--no-color');
    expect(plain).toEqual(done(expect.stringMatching(matchLine)));
    expect(await earshot('--rule', 'rule_unknown')).toMatchObject({ code: 3 });
  },

  async coverage(earshot, scene) {
    const answer = await earshot.json('--rule', scene.rule.rule_id, '--from', '1h');
    expect(answer).toMatchObject({
      intervals: expect.arrayContaining([expect.objectContaining({ platform: 'x' })]),
    });
    expect(await earshot('--platform', 'x')).toEqual(done(saying('PLATFORM  STATE')));
  },

  async usage(earshot, scene) {
    const answer = await earshot.json('--rule', scene.rule.rule_id, '--by', 'rule');
    expect(answer).toMatchObject({
      usage: [{ rule_id: scene.rule.rule_id, platform: 'x', usd: { min: expect.any(Number) } }],
      prices_as_of: expect.any(String),
    });
    expect(await earshot()).toEqual(done(saying('PLATFORM  MATCHES')));
  },

  async notices(earshot, scene) {
    // The source was connected before the rule was there: nothing to be told yet, or what a reconnect left.
    const { notices } = Object(await earshot.json());
    expect(Array.isArray(notices)).toBe(true);
    const { rule_id } = await scene.server.api(scene.account).createRule({ x: 'short lived' });
    const following = earshot.json('--follow', '--limit', '1');
    await scene.server
      .api(scene.account)
      .updateRule(rule_id, { expires_at: new Date(Date.now() + 3_000).toISOString() });
    expect(await following).toMatchObject({ type: 'rule.expired', subject: { id: rule_id } });
    const listed = await earshot('--open', '--limit', '1');
    expect(listed).toEqual(done(saying('rule.expired')));
    expect(listed.stdout).toContain('resume it');
    await scene.server.api(scene.account).deleteRule(rule_id);
    expect(Object(await earshot.json('--limit', '1')).notices[0]).toMatchObject({
      subject: { id: rule_id },
      resolved_at: expect.any(String),
    });
  },

  async sources(earshot) {
    expect(await earshot.json()).toMatchObject({
      sources: expect.arrayContaining([expect.objectContaining({ platform: 'x', state: 'live' })]),
    });
    expect(await earshot()).toEqual(done(saying('PLATFORM  NAME')));
  },

  async 'readers read'(earshot, scene) {
    const first = await earshot.json('morning', '--rule', scene.rule.rule_id);
    expect(first).toMatchObject({ matches: [{ rule_id: scene.rule.rule_id }], cursor: expect.any(String) });
    scene.cursor = String(Reflect.get(Object(first), 'cursor'));
    const again = await earshot('morning');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(matchLine) });
    expect(again.stderr).toMatch(/^Acknowledge them: earshot readers ack morning \S+\n$/);
    expect(await earshot('evening', '--ack')).toEqual(done(expect.stringMatching(matchLine)));
    expect(await earshot.json('evening', '--wait', '1')).toMatchObject({ matches: [], cursor: null });
  },

  async watch(earshot, scene) {
    expect(await earshot('--reader', 'watcher')).toMatchObject({ code: 2, stderr: saying('--exec') });
    const words = ['watch', '--reader', 'watcher', '--rule', scene.rule.rule_id, '--start', 'oldest'];
    const running = scene.cli.start([...words, '--exec', 'cat']);
    await eventually(() => expect(running.output.stdout).toContain('the comet is here'), {
      timeoutMs: 60_000,
    });
    running.process.kill('SIGINT');
    expect(await running.exited).toBe(130);
    expect(await scene.cli.run(['readers', 'delete', 'watcher', '--yes'])).toMatchObject({ code: 0 });
  },

  async 'readers ack'(earshot, scene) {
    expect(await earshot.json('morning', scene.cursor)).toEqual({ reader: 'morning', moved: true });
    expect(await earshot('morning', scene.cursor)).toEqual(done('morning was there already, or further.\n'));
    expect(await earshot('nobody', scene.cursor)).toMatchObject({ code: expect.toBeOneOf([3, 5]) });
  },

  async 'readers list'(earshot) {
    expect(await earshot.json()).toMatchObject({ readers: [{ name: 'evening' }, { name: 'morning' }] });
    expect(await earshot()).toEqual(done(expect.stringMatching(/^morning {2}rule_\w+ {2}any/m)));
  },

  async 'readers delete'(earshot) {
    expect(await earshot('evening')).toMatchObject({ code: 2 });
    expect(await earshot('evening', '--yes')).toEqual(done('evening is deleted.\n'));
    expect(await earshot('evening', '--yes')).toMatchObject({ code: 3 });
  },
};
