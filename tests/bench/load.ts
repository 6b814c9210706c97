/** Load on an HTTP server: several connections, each with one call at a time. */
import { Agent, request as send } from 'node:http';
import { call, type Exchange, headersFor, type Plan, replyIn } from './subject/call.ts';

/** The result of a burst of load. */
export interface Burst {
  readonly requestsPerSecond: number;
  /** Of single requests, in milliseconds. */
  readonly latencies: readonly number[];
  readonly requests: number;
}

/** A client with connections that it keeps. */
export class Load {
  readonly #port: number;
  readonly #connections: number;
  readonly #agent: Agent;

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Calls on all connections until `ms` have passed. */
  async burst(plan: Plan, ms: number): Promise<Burst> {
    const latencies: number[] = [];
    const started = performance.now();
    const exchange: Exchange = async (message, tool) => {
      const begun = performance.now();
      const reply = replyIn(await this.#post(JSON.stringify(message), tool));
      latencies.push(performance.now() - begun);
      return reply;
    };
    const worker = async () => {
      while (performance.now() - started < ms) await call(exchange, plan);
    };
    await Promise.all(Array.from({ length: this.#connections }, worker));
    const seconds = (performance.now() - started) / 1000;
    return { requestsPerSecond: latencies.length / seconds, latencies, requests: latencies.length };
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: string, tool: string): Promise<string> {
    const headers = { ...headersFor(tool), 'content-length': Buffer.byteLength(body) };
    const to = {
      agent: this.#agent,
      host: '127.0.0.1',
      port: this.#port,
      path: '/mcp',
      method: 'POST',
      headers,
    };
    return new Promise((resolve, reject) => {
      const outgoing = send(to, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
        response.on('error', reject);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        // A server closes connections that were idle for 5 s, and may just have closed this one.
        if (outgoing.reusedSocket && error.code === 'ECONNRESET') resolve(this.#post(body, tool));
        else reject(error);
      });
      outgoing.end(body);
    });
  }
}
