import type { ILoadOptionsFunctions, INodePropertyMode, INodePropertyOptions } from 'n8n-workflow';
import { callEarshot } from './call-earshot.ts';

/** The modes of a parameter that takes one rule. The node has `searchRules` in `methods.listSearch`. */
export const ruleModes: INodePropertyMode[] = [
  {
    displayName: 'From List',
    name: 'list',
    type: 'list',
    placeholder: 'Select a rule…',
    typeOptions: { searchListMethod: 'searchRules', searchable: true },
  },
  { displayName: 'By ID', name: 'id', type: 'string', placeholder: 'rule_…' },
];

/** All rules of the account, newest first. */
export async function listRuleOptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  const { rules } = await callEarshot(this, '/api.ListRules');
  return (rules as { id: string; name: string }[]).map(({ id, name }) => ({
    name,
    value: id,
    description: id,
  }));
}

/** The rules whose name contains the text. */
export async function searchRules(this: ILoadOptionsFunctions, text = '') {
  const rules = await listRuleOptions.call(this);
  return { results: rules.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())) };
}
