import { expect, test } from 'vitest';
import { readConfig } from '../../apps/server/src/config/config.ts';
import { renderConfigurationPage, renderEnvironmentFile } from '../configuration-page.ts';

test('docs/configuration.md matches the settings of the server (regenerate it with pnpm docs:write)', async () => {
  await expect(renderConfigurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
});

test('deploy/earshot.env.example has every setting that an operator makes (regenerate it with pnpm docs:write)', async () => {
  await expect(renderEnvironmentFile()).toMatchFileSnapshot('../../deploy/earshot.env.example');
});

const needed = {
  EARSHOT_DATABASE_URL: 'postgres://earshot@127.0.0.1/earshot',
  EARSHOT_NATS_URL: 'nats://127.0.0.1:4222',
};

test('deploy/earshot.env.example with every line uncommented is valid and changes nothing', () => {
  const lines = renderEnvironmentFile().matchAll(/^#(\w+)=(.*)$/gm);
  const uncommented = Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
  expect(Object.keys(uncommented)).toContain('OTEL_TRACES_SAMPLER_ARG');
  expect(readConfig({ ...needed, ...uncommented })).toEqual(readConfig(needed));
});

test('every default in docs/configuration.md is accepted as printed and changes nothing', () => {
  const rows = renderConfigurationPage().matchAll(/^\| `(\w+)` \| `([^`]*)` \|/gm);
  const printed = Object.fromEntries([...rows].map(([, name, value]) => [name, value]));
  expect(Object.keys(printed)).toContain('OTEL_TRACES_SAMPLER_ARG');
  expect(readConfig({ ...needed, ...printed })).toEqual(readConfig(needed));
});
