/** A real modern client that records which instance served it. It takes no part in the routing. */
import { converse, foreignHosting, scriptedUser } from '@mrtr/harness';
import { messagesFrom, objectIn, resultText } from '@mrtr/harness/transcript';

export interface Called {
  /** The instance of each round, from the router. */
  readonly servedBy: readonly string[];
  readonly states: readonly string[];
  readonly text: string;
  readonly failed: boolean;
}

const CALL = { name: 'resolve_work_item', arguments: { id: 4522, state: 'Resolved' } };

/** Resolves item 4522 as a duplicate: two questions, three rounds. */
export async function call(url: URL): Promise<Called> {
  const servedBy: string[] = [];
  const watchFetch = async (input: string | URL, init?: RequestInit) => {
    const response = await fetch(input, init);
    if (String(init?.body).includes('"tools/call"'))
      servedBy.push(response.headers.get('x-served-by') ?? 'nobody');
    return response;
  };
  const { events, end } = await converse(
    {
      client: 'modern-only',
      call: { method: 'tools/call', params: CALL },
      user: scriptedUser({ resolution: ['Duplicate'], original: ['4301'] }),
    },
    () => foreignHosting({ kind: 'http', url, fetch: watchFetch }),
  );
  if (end.error) throw new Error(end.error.message);
  const states = messagesFrom('client', events).flatMap((message) => {
    const { requestState } = objectIn(message, 'params');
    return typeof requestState === 'string' ? [requestState] : [];
  });
  return { servedBy, states, text: resultText(end.result), failed: end.result.isError === true };
}
