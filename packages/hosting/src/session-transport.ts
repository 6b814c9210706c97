/** A session's transport, which bounds the calls that its server has not answered. */
import {
  type HandleRequestOptions,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isSpecType,
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
  type WebStandardStreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/server';
import { handlerSettled } from '@mrtr/core/shape';
import { problem } from './problem.ts';
import { noteCall } from './session-calls.ts';

/** A call that is not over. `entered`: the server has it, and a cancellation finds it. */
interface OpenCall {
  entered: boolean;
  readonly request: Request;
  readonly end: () => void;
}

/**
 * A call is open from its arrival until its response is sent, or it is cancelled and its handler has settled. That its
 * client hung up ends nothing: at 2025-11-25 the server goes on.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #maxOpenCalls: number;
  readonly #calls = new Map<RequestId, OpenCall>();

  constructor(maxOpenCalls: number, options: WebStandardStreamableHTTPServerTransportOptions) {
    super(options);
    this.#maxOpenCalls = maxOpenCalls;
    // The server calls this before it looks at a message itself.
    this.onmessage = (message) => this.#entering(message);
  }

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    const { parsedBody } = options;
    // Answers and notifications always come in: they are what ends calls.
    if (!isJSONRPCRequest(parsedBody)) return super.handleRequest(request, options);
    const { id } = parsedBody;
    // Two calls with one id would count once, and their responses would be mixed up.
    if (this.#calls.has(id)) return problem(400, 'A call with this id is open', {}, -32600);
    if (this.#calls.size >= this.#maxOpenCalls) {
      return problem(429, 'Too many calls are open in this session; answer or cancel one');
    }
    noteCall(request, new Promise((end) => this.#calls.set(id, { entered: false, request, end })));
    let served = false;
    try {
      const response = await super.handleRequest(request, options);
      served = response.ok;
      return response;
    } finally {
      // Refused by the SDK, for its Accept header for example: nothing will be sent.
      if (!served) this.#end(id);
    }
  }

  override async close(): Promise<void> {
    await super.close();
    for (const id of [...this.#calls.keys()]) this.#end(id);
  }

  override send(...[message, options]: Parameters<WebStandardStreamableHTTPServerTransport['send']>) {
    if (isJSONRPCResponse(message) && message.id !== undefined) this.#end(message.id);
    return super.send(message, options);
  }

  #end(id: RequestId): void {
    this.#calls.get(id)?.end();
    this.#calls.delete(id);
  }

  #entering(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      const call = this.#calls.get(message.id);
      if (call) call.entered = true;
    } else if (isSpecType.CancelledNotification(message) && message.params.requestId !== undefined) {
      this.#cancelled(message.params.requestId);
    }
  }

  /** A cancelled call gets no response. It counts until its handler has settled. */
  #cancelled(id: RequestId): void {
    const call = this.#calls.get(id);
    if (!call?.entered) return;
    const settled = handlerSettled(call.request).then(() => {
      if (this.#calls.get(id) === call) this.#end(id);
    });
    // When its questions have been taken back from its client.
    setImmediate(async () => {
      if ((this.#calls.get(id) ?? call) === call) this.closeSSEStream(id);
      await settled;
      if (!this.#calls.has(id)) this.#forget(id);
    });
  }

  /** The SDK forgets a call when it sends its response. This one goes nowhere, and that is no error. */
  #forget(id: RequestId): void {
    const { onerror } = this;
    this.onerror = () => {};
    super.send({ jsonrpc: '2.0', id, result: {} }).catch(() => {});
    if (onerror) this.onerror = onerror;
  }
}
