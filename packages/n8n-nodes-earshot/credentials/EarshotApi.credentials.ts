import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow';

export class EarshotApi implements ICredentialType {
  name = 'earshotApi';
  displayName = 'Earshot API';
  icon = { light: 'file:../icons/earshot.svg', dark: 'file:../icons/earshot.dark.svg' } as const;
  documentationUrl = 'https://earshot.example.com';
  properties: INodeProperties[] = [
    {
      displayName: 'Server URL',
      name: 'url',
      type: 'string',
      default: '',
      placeholder: 'https://earshot.example.com',
      required: true,
      description: 'Address of your Earshot server',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description:
        'A key can have several scopes. The trigger needs webhooks:read, webhooks:write and rules:read; the other node rules:read, rules:write and matches:read.',
    },
  ];
  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };
  // Any valid key may call this operation.
  test: ICredentialTestRequest = {
    request: {
      method: 'POST',
      baseURL: '={{$credentials.url}}',
      url: '/platforms/syntax',
      body: { platforms: ['x'] },
    },
  };
}
