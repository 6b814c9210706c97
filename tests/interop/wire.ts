/** The messages between a client and a server, independent of the client's report. */

/** A line: a message, an event of a stream with a message, or other text. */
export interface Line {
  readonly from: 'client' | 'server';
  readonly text: string;
}

export interface Wire {
  /** The revision of the call, or else the negotiated one. */
  readonly revision: string;
  /** Whether the client declared that its user can be asked. */
  readonly declares: boolean;
  /** Whether the server asked. */
  readonly asks: boolean;
}

type Json = Readonly<Record<string, unknown>>;

const META = 'io.modelcontextprotocol/';

export function wireOf(lines: readonly Line[]): Wire {
  const messagesOf = (side: Line['from']) =>
    lines.flatMap(({ from, text }) => (from === side ? [jsonIn(text)].flat().map(objectOf) : []));
  const [sent, received] = [messagesOf('client'), messagesOf('server')];
  const agreed = received.map(({ result }) => objectOf(result).protocolVersion).findLast(isText);
  const call = sent.findLast(({ method }) => method === 'tools/call');
  return {
    revision: [metaOf(call?.params, 'protocolVersion'), agreed].find(isText) ?? 'none',
    declares: sent.some(({ params }) => {
      const { capabilities } = objectOf(params);
      return objectOf(capabilities ?? metaOf(params, 'clientCapabilities')).elicitation !== undefined;
    }),
    asks: received.some(
      ({ method, result }) => method === 'elicitation/create' || objectOf(result).inputRequests !== undefined,
    ),
  };
}

const metaOf = (params: unknown, name: string): unknown => objectOf(objectOf(params)._meta)[`${META}${name}`];

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^data: ?/, ''));
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};
const isText = (value: unknown): value is string => typeof value === 'string';
