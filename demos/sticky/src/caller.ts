/** A real modern client that records which instance served it. It does nothing for the routing. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { modernClient } from '@mrtr/harness';

/** The result of one call. */
export interface Called {
  /** The instance that served each round, as the router reports it. */
  readonly servedBy: readonly string[];
  /** The states that were echoed. */
  readonly states: readonly string[];
  readonly text: string;
  readonly failed: boolean;
}

type BeforeAnswer = (servedBy: string) => Promise<void>;

/** A connected client. */
export interface Caller {
  /** Resolves item 4522 as a duplicate: two questions, three rounds. `beforeAnswer` gets the instance that asked. */
  call(beforeAnswer?: BeforeAnswer): Promise<Called>;
  close(): Promise<void>;
}

/** Connects it. */
export async function connect(url: URL): Promise<Caller> {
  let servedBy: string[] = [];
  let states: string[] = [];
  let beforeAnswer: BeforeAnswer | undefined;
  const elicit = async ({ message }: { readonly message: string }) => {
    await beforeAnswer?.(servedBy.at(-1) ?? 'nobody');
    const content = message.startsWith('How') ? { resolution: 'Duplicate' } : { original: 4301 };
    return { action: 'accept', content } as const;
  };
  const watchFetch = async (input: string | URL, init?: RequestInit) => {
    const response = await fetch(input, init);
    const sent = JSON.parse(String(init?.body ?? '{}')) as {
      method?: string;
      params?: { requestState?: string };
    };
    if (sent.method === 'tools/call') servedBy.push(response.headers.get('x-served-by') ?? 'nobody');
    if (sent.params?.requestState !== undefined) states.push(sent.params.requestState);
    return response;
  };
  const transport = new StreamableHTTPClientTransport(url, { fetch: watchFetch });
  const client = await modernClient(transport, { elicit });
  return {
    async call(before) {
      [servedBy, states, beforeAnswer] = [[], [], before];
      const result = await client.callTool({
        name: 'resolve_work_item',
        arguments: { id: 4522, state: 'Resolved' },
      });
      const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      return { servedBy, states, text, failed: result.isError === true };
    },
    close: () => client.close(),
  };
}
