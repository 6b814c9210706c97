/** What passed between a client and a server, as the wire has it and not as the client reports it. */
import { readFile } from 'node:fs/promises';

type Side = 'client' | 'server';
type Json = Readonly<Record<string, unknown>>;

const META = 'io.modelcontextprotocol/';

/** The messages of one connection, as far as they tell the revision and the question. */
export class Wire {
  #offered: string | undefined;
  #agreed: string | undefined;
  #inCall: string | undefined;
  #declares = false;
  #asks = false;

  /** Takes one line of text: a message, an event of a stream that holds one, or something that says nothing. */
  read(from: Side, text: string): void {
    const parsed = jsonIn(text.replace(/^data: ?/, ''));
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) this.#note(from, objectOf(message));
  }

  static async fromLog(path: string): Promise<Wire> {
    const wire = new Wire();
    const log = await readFile(path, 'utf8').catch(() => '');
    for (const line of log.split('\n').filter(Boolean)) {
      const { from, text } = JSON.parse(line) as { from: Side; text: string };
      wire.read(from, text);
    }
    return wire;
  }

  /** The revision of the call; else the one that was agreed on, or that the server refused. */
  get revision(): string {
    return this.#inCall ?? this.#agreed ?? (this.#offered ? `${this.#offered}, refused` : 'none');
  }

  get declares(): boolean {
    return this.#declares;
  }

  get asks(): boolean {
    return this.#asks;
  }

  #note(from: Side, { method, params, result }: Json): void {
    const { _meta, capabilities, protocolVersion } = objectOf(params);
    const meta = objectOf(_meta);
    if (from === 'client') {
      const declared = method === 'initialize' ? capabilities : meta[`${META}clientCapabilities`];
      if (objectOf(declared).elicitation !== undefined) this.#declares = true;
      if (method === 'initialize') this.#offered = String(protocolVersion);
      if (method === 'tools/call') this.#inCall = textOf(meta[`${META}protocolVersion`]);
    } else {
      const { inputRequests, protocolVersion: agreed } = objectOf(result);
      if (agreed !== undefined) this.#agreed = textOf(agreed);
      if (method === 'elicitation/create' || inputRequests !== undefined) this.#asks = true;
    }
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
