import {
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type ILoadOptionsFunctions,
  type JsonObject,
  NodeApiError,
} from 'n8n-workflow';

/** Calls an operation of Earshot's API, without a body by GET. n8n shows the error message of the server. */
export async function callEarshot(
  context: IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions,
  path: string,
  body?: IDataObject,
): Promise<IDataObject> {
  const { url } = await context.getCredentials('earshotApi');
  try {
    return await context.helpers.httpRequestWithAuthentication.call(context, 'earshotApi', {
      method: body === undefined ? 'GET' : 'POST',
      baseURL: String(url),
      url: path,
      ...(body !== undefined && { body }),
      json: true,
    });
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject);
  }
}
