import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../packages/contract/src/index.ts';

const root = join(import.meta.dirname, '../..');
const plugin = 'plugins/earshot';
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readJson = (path: string) => JSON.parse(read(path));

test('the marketplace lists the plugin with its path and name', () => {
  const { name, owner, plugins } = readJson('.claude-plugin/marketplace.json');
  const { name: itsName, description } = readJson(`${plugin}/.claude-plugin/plugin.json`);
  expect({ name, owner }).toEqual({ name: 'earshot', owner: { name: 'Earshot' } });
  expect(plugins).toEqual([{ name: itsName, source: `./${plugin}`, description }]);
});

test('the manifest has the fields that Claude Code reads, and the version of the repository', () => {
  const manifest = readJson(`${plugin}/.claude-plugin/plugin.json`);
  const { version, license, homepage } = readJson('package.json');
  expect(manifest).toEqual({
    name: expect.stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/),
    version,
    description: expect.any(String),
    author: { name: expect.any(String) },
    homepage,
    repository: expect.stringMatching(/^https:/),
    license,
    keywords: expect.any(Array),
    userConfig: { url: expect.any(Object), api_key: expect.objectContaining({ sensitive: true }) },
  });
  // All other files are in their default places; if the manifest named them, they would be ignored.
  const files = globSync('{.*,.*/*,*/**}', { cwd: join(root, plugin), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, plugin).length + 1));
  expect(new Set(files)).toEqual(
    new Set(['.claude-plugin/plugin.json', '.mcp.json', 'skills/earshot/SKILL.md']),
  );
});

test('the plugin has our skill, which calls only operations that exist', () => {
  const skill = read(`${plugin}/skills/earshot/SKILL.md`);
  expect(skill).toBe(read('skills/earshot/SKILL.md'));
  const called = Array.from(skill.matchAll(/\/api\.(\w+)/g), ([, name = '']) => name);
  expect(called.length).toBeGreaterThan(5);
  expect(called.filter((name) => !(name in operations))).toEqual([]);
});

test('the tools read only settings that the plugin asks for', () => {
  const { userConfig } = readJson(`${plugin}/.claude-plugin/plugin.json`);
  const used = read(`${plugin}/.mcp.json`).match(/(?<=\$\{user_config\.)\w+(?=\})/g);
  expect(used).toEqual(Object.keys(userConfig));
});
