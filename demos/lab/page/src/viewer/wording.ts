/** Messages in the few words that fit between two lanes. */
import {
  asText,
  contentText,
  type JsonObject,
  objectIn,
  resultText,
  type WireMessage,
} from '@mrtr/harness/transcript';

const OUTCOMES: Readonly<Record<string, string>> = {
  accept: 'accepted',
  decline: 'declined',
  cancel: 'cancelled',
};

/** One message, in a few words. */
export function messageText(message: WireMessage): string {
  const { method, error } = message;
  if (error !== undefined) return `error: ${asText(objectIn(message, 'error').message)}`;
  const params = objectIn(message, 'params');
  if (typeof method === 'string') return requestText(method, params);
  const result = objectIn(message, 'result');
  if (result.resultType === 'input_required') {
    const requests = objectIn(result, 'inputRequests');
    const asked = Object.keys(requests).map((key) => questionOf(requests, key));
    return `input_required: ${asked.join(', ')}`;
  }
  if (typeof result.action === 'string') return OUTCOMES[result.action] ?? result.action;
  if (result.protocolVersion !== undefined) return 'initialized';
  return resultText(result);
}

function requestText(method: string, params: JsonObject): string {
  if (method === 'elicitation/create') return `asks: ${asText(params.message)}`;
  if (method === 'sampling/createMessage') return `asks the model: ${contentText(params.messages)}`;
  const target = asText(params.name ?? params.uri);
  const brought = Object.keys(objectIn(params, 'inputResponses'));
  const { requestState } = params;
  const isRetry = params.inputResponses !== undefined || requestState !== undefined;
  if (!isRetry) return `${method} ${target}`.trim();
  const state = typeof requestState === 'string' ? [`state ${requestState.length} B`] : [];
  return `retry + ${[...brought, ...state].join(', ') || 'nothing'}`;
}

function questionOf(requests: JsonObject, key: string): string {
  const request = objectIn(requests, key);
  return asText(objectIn(request, 'params').message ?? request.method);
}
