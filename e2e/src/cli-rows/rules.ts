import { expect } from 'vitest';
import { done, type Rows, type Scene, saying } from './scene.ts';

export const rulesRows: Rows = {
  async 'rules create'(earshot, scene) {
    const words = ['--name', 'Comets', '--x', 'comet', '--firehose', 'title:comet'];
    scene.rule = (await earshot.json(...words)) as Scene['rule'];
    expect(scene.rule).toMatchObject({
      platforms: { x: { status: 'active' }, firehose: { status: 'active' } },
    });

    const wrong = await earshot('--name', 'A', '--x', 'comet AND here');
    expect(wrong).toMatchObject({ code: 5, stdout: '' });
    expect(wrong.stderr.split('\n').slice(0, 5)).toEqual([
      '  --x  comet AND here',
      '             ^^^',
      saying('error: X has no AND'),
      '  Remove AND:',
      "    --x 'comet here'",
    ]);
    const asJson = await earshot('--name', 'A', '--x', 'comet AND here', '--json');
    expect(asJson).toMatchObject({ code: 5, stdout: '' });
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      code: 'invalid_argument',
      details: { violations: [{ field: 'overrides.x', span: { start: 6, end: 9 } }] },
    });
    // What it offers is right.
    const mended = await earshot('--name', 'Mended', '--x', 'comet here');
    expect(mended).toMatchObject({ code: 0, stdout: saying('x  active  comet here') });
    expect(await earshot('--name', 'A')).toMatchObject({
      code: 2,
      stderr: saying('Specify at least one of --x'),
    });
    const comet = ['--name', 'A', '--x', 'comet'];
    expect(await earshot(...comet, '--trial', '30m')).toMatchObject({
      code: 2,
      stderr: saying('such as 30m,matches=50'),
    });
    expect(await earshot(...comet, '--trial', '30m,matches=50', '--expires', '2h')).toMatchObject({
      code: 5,
      stderr: saying('Not together with "trial"'),
    });
  },

  async 'rules list'(earshot, scene) {
    expect(await earshot.json()).toMatchObject({ rules: [{ name: 'Mended' }, { id: scene.rule.rule_id }] });
    const { stdout } = await earshot();
    expect(stdout).toMatch(
      new RegExp(`^${scene.rule.rule_id} {2}active {2}(live|starting) +x,firehose {2}0 .* Comets$`, 'm'),
    );
    expect(await earshot('--limit', '1')).toMatchObject(done(saying('More: earshot rules list --cursor ')));
  },

  async 'rules get'(earshot, scene) {
    expect(await earshot.json(scene.rule.rule_id)).toMatchObject({
      id: scene.rule.rule_id,
      name: 'Comets',
      version: 1,
    });
    expect(await earshot(scene.rule.rule_id)).toEqual(done(saying('registered  comet')));
    const missing = await earshot('rule_unknown', '--json');
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(missing.stderr)).toMatchObject({ code: 'not_found' });
  },

  async 'rules update'(earshot, scene) {
    const updated = await earshot.json(scene.rule.rule_id, '--x', 'comet OR meteor', '--expires', '30d');
    expect(updated).toMatchObject({
      version: 2,
      expires_at: expect.any(String),
      platforms: {
        x: { translated_value: 'comet OR meteor' },
        firehose: { translated_value: scene.rule.platforms.firehose?.translated_value },
      },
    });
    const doubtful = [scene.rule.rule_id, '--x', 'comet OR meteor -is:retweet', '--firehose-quality', 'off'];
    expect(await earshot(...doubtful)).toMatchObject({ code: 5 });
    expect(await earshot.json(...doubtful, '--accept-doubts')).toMatchObject({
      version: 3,
      platforms: { firehose: { options: { quality: false } } },
    });
    const fewer = await earshot.json(
      scene.rule.rule_id,
      '--drop',
      'firehose',
      '--never-expires',
      '--name',
      'Sky',
    );
    expect(fewer).toMatchObject({ name: 'Sky', expires_at: null, platforms: { x: {} } });
    expect(fewer).not.toHaveProperty('platforms.firehose');
    expect(await earshot(scene.rule.rule_id, '--drop', 'x')).toMatchObject({ code: 2 });
    expect(await earshot(scene.rule.rule_id)).toMatchObject({
      code: 2,
      stderr: saying('Specify what to change'),
    });
  },

  async 'rules pause'(earshot, scene) {
    expect(await earshot.json(scene.rule.rule_id)).toMatchObject({ state: 'paused' });
    expect(await earshot('rule_unknown')).toMatchObject({ code: 3 });
  },

  async 'rules resume'(earshot, scene) {
    expect(await earshot(scene.rule.rule_id)).toEqual(done(saying('status      active since')));
  },

  async 'rules validate'(earshot) {
    expect(await earshot.json('--x', 'rust cargo')).toMatchObject({ platforms: { x: { valid: true } } });
    const doubtful = await earshot('--x', '"rust 2027" OR "cargo 2027" -is:retweet');
    expect(doubtful.code).toBe(5);
    expect(doubtful.stdout.split('\n').slice(0, 6)).toEqual([
      'doubtful on x, with --accept-doubts registered as: "cargo 2027" -is:retweet OR "rust 2027"',
      '  --x  "rust 2027" OR "cargo 2027" -is:retweet',
      '                                   ^^^^^^^^^^^',
      saying('doubt: '),
      '  Perhaps: Apply it to all branches:',
      `    --x '("rust 2027" OR "cargo 2027") -is:retweet'`,
    ]);
    expect(await earshot('--firehose', 'title:')).toMatchObject({
      code: 5,
      stdout: saying('invalid on firehose'),
    });
  },

  async preview(earshot, scene) {
    const asked = ['--x', 'comet', '--rule', scene.rule.rule_id, '--days', '2'];
    expect(await earshot.json(...asked)).toMatchObject({
      platforms: { x: { translated_value: 'comet', sample: { is_sampled: false }, against: {} } },
    });
    expect(await earshot(...asked)).toEqual(done(saying('comet on x')));
    expect(await earshot('--x', 'comet AND here')).toMatchObject({ code: 5, stderr: saying('X has no AND') });
    expect(await earshot()).toMatchObject({ code: 2, stderr: saying('Specify at least one of --x') });
  },

  async syntax(earshot) {
    expect(await earshot.json()).toMatchObject({ platforms: { x: {}, firehose: {} } });
    expect(await earshot('firehose')).toEqual(done(expect.stringMatching(/^# Firehose rules/)));
    expect(await earshot('y')).toMatchObject({ code: 2 });
  },

  async 'rules delete'(earshot, scene) {
    expect(await earshot(scene.rule.rule_id)).toMatchObject({ code: 2, stdout: '' });
    expect(await earshot.json(scene.rule.rule_id, '--yes')).toMatchObject({ rule_id: scene.rule.rule_id });
    expect(await earshot(scene.rule.rule_id, '--yes')).toMatchObject({ code: 3 });
  },
};
