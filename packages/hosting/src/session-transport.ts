/** A session's transport, which tracks unanswered calls. */
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
import { awaitHandler } from '@mrtr/core/internal';
import { keepOpen } from './open-requests.ts';
import { rejectHttp } from './rejections.ts';

/** A call that is not over. `entered`: the server has received it, so a cancellation finds it. */
interface OpenCall {
  entered: boolean;
  readonly request: Request;
  readonly end: () => void;
}

/**
 * A call is open from its arrival until its response is sent, or until it is cancelled and its handler has ended. Until
 * then its id is taken. Hanging up cancels nothing: at 2025-11-25 the server continues.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #calls = new Map<RequestId, OpenCall>();

  constructor(options: WebStandardStreamableHTTPServerTransportOptions) {
    super(options);
    // The server calls this before it handles a message.
    this.onmessage = (message) => this.#entering(message);
  }

  /** Whether a call is not over, even if its client has hung up. */
  get hasOpenCalls() {
    return this.#calls.size > 0;
  }

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    const { parsedBody } = options;
    // Always admit answers and notifications, because they end calls.
    if (!isJSONRPCRequest(parsedBody)) return super.handleRequest(request, options);
    const { id } = parsedBody;
    // Two calls with one id would count once, and their responses would be mixed up.
    if (this.#calls.has(id))
      return rejectHttp(400, 'http_invalid', 'A call with this id is open', {}, -32600);
    const over = new Promise<void>((end) => this.#calls.set(id, { entered: false, request, end }));
    keepOpen(request, over);
    let served = false;
    try {
      const response = await super.handleRequest(request, options);
      served = response.ok;
      return response;
    } finally {
      // The SDK rejected the call, for example for its Accept header, and will send no response.
      if (!served) this.#end(id);
    }
  }

  override async close() {
    // This fires the signals of the calls.
    await super.close();
    for (const id of [...this.#calls.keys()]) this.#end(id);
  }

  override send(...[message, options]: Parameters<WebStandardStreamableHTTPServerTransport['send']>) {
    if (isJSONRPCResponse(message) && message.id !== undefined) this.#end(message.id);
    return super.send(message, options);
  }

  #end(id: RequestId) {
    this.#calls.get(id)?.end();
    this.#calls.delete(id);
  }

  #entering(message: JSONRPCMessage) {
    if (isJSONRPCRequest(message)) {
      const call = this.#calls.get(message.id);
      if (call) call.entered = true;
    } else if (isSpecType.CancelledNotification(message) && message.params.requestId !== undefined)
      this.#cancel(message.params.requestId);
  }

  /** A cancelled call gets no response. */
  #cancel(id: RequestId) {
    const call = this.#calls.get(id);
    if (!call?.entered) return;
    call.end();
    const settled = awaitHandler(call.request).then(() => {
      if (this.#calls.get(id) === call) this.#end(id);
    });
    // By then, the server has withdrawn its questions from the client.
    setImmediate(async () => {
      if ((this.#calls.get(id) ?? call) === call) this.closeSSEStream(id);
      await settled;
      if (!this.#calls.has(id)) this.#forget(id);
    });
  }

  /** Sends a response that goes nowhere, since the SDK forgets a call only when it is answered. */
  #forget(id: RequestId) {
    const { onerror } = this;
    this.onerror = () => {};
    super.send({ jsonrpc: '2.0', id, result: {} }).catch(() => {});
    if (onerror) this.onerror = onerror;
  }
}
