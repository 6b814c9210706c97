/** Messages in the few words that fit between two lanes. */
import { contentText, objectIn, resultText, type WireMessage } from '@mrtr/harness/transcript';

const OUTCOMES: Readonly<Record<string, string>> = {
  accept: 'accepted',
  decline: 'declined',
  cancel: 'cancelled',
};

/** One message, in a few words. */
export function messageText(message: WireMessage): string {
  const { method, error } = message;
  if (error !== undefined) return `error: ${objectIn(message, 'error').message}`;
  const params = objectIn(message, 'params');
  if (typeof method === 'string') return requestText(method, params);
  const result = objectIn(message, 'result');
  if (result.resultType === 'input_required') {
    const asked = Object.values(objectIn(result, 'inputRequests')).map(questionOf);
    return `input_required: ${asked.join(', ')}`;
  }
  if (typeof result.action === 'string') return OUTCOMES[result.action] ?? result.action;
  if (result.protocolVersion !== undefined) return 'initialized';
  return resultText(result);
}

function requestText(method: string, params: Readonly<Record<string, unknown>>): string {
  if (method === 'elicitation/create') return `asks: ${params.message}`;
  if (method === 'sampling/createMessage') return `asks the model: ${contentText(params.messages)}`;
  const target = String(params.name ?? params.uri ?? '');
  const brought = Object.keys(objectIn(params, 'inputResponses'));
  const { requestState } = params;
  const isRetry = params.inputResponses !== undefined || requestState !== undefined;
  if (!isRetry) return `${method} ${target}`.trim();
  const state = typeof requestState === 'string' ? [`state ${requestState.length} B`] : [];
  return `retry + ${[...brought, ...state].join(', ') || 'nothing'}`;
}

function questionOf(request: unknown): string {
  const { method, params } = request as { method?: string; params?: { message?: string } };
  return params?.message ?? String(method);
}
