/** Serves pages for browsers. Nobody has signed in yet, so what they take is counted apart from what MCP takes. */
import type { Readable } from 'node:stream';
import { noteListener, Quota, QuotaSlot } from '@mrtr/core/internal';
import { bodyReader } from './body.ts';
import { rejectFull } from './rejections.ts';
import type { OnError } from './server-instance.ts';

/** How many pages may be served at once. @internal */
export const MAX_PAGES = 100;
/** The limits of bodies that are posted to pages. MCP has its own, so that these cannot fill it. @internal */
export const PAGE_BODY_LIMITS = { bodyBytes: 16_384, bytes: 1_048_576, perPrincipal: 1 };

/** Pages for browsers, beside the MCP server. */
export interface PageSet {
  /** The path above the pages. */
  readonly path: string;
  /**
   * Answers a browser. It must authenticate the browser itself; `verifier` is not called for pages. A body arrives when
   * it is read, so reject a request before you read its body. It has at most 16 KiB.
   */
  fetch(request: Request): Promise<Response>;
}

/** Makes a function that answers browsers. The body of a request comes in when the page reads it. @internal */
export function makePageServer(onerror: OnError | undefined) {
  const open = new Quota(MAX_PAGES);
  const { readBytes } = bodyReader(PAGE_BODY_LIMITS);
  return async (pages: PageSet, request: Request, incoming: Readable | undefined) => {
    const first = QuotaSlot.take(open, undefined);
    if (!(first instanceof QuotaSlot)) return rejectFull(first, 'pages open');
    let place: QuotaSlot | undefined = first;
    let rejected: Response | undefined;
    const readBody = async (): Promise<Uint8Array> => {
      // A body that arrives slowly takes no other page's place.
      first.giveBack();
      const body = await readBytes(request.headers, incoming, undefined);
      if (body instanceof Response) return reject(body);
      // The page may have answered without waiting for the body.
      const again = place && QuotaSlot.take(open, undefined);
      if (typeof again === 'string') return reject(rejectFull(again, 'pages open'));
      place = again;
      return body;
    };
    const reject = (response: Response): never => {
      rejected = response;
      throw new Error(`A body that was posted to a page was rejected with status ${response.status}.`);
    };
    try {
      const response = await pages.fetch(noteListener(withBody(request, readBody), onerror));
      return rejected ?? response;
    } catch (error) {
      if (rejected) return rejected;
      throw error;
    } finally {
      place?.giveBack();
      place = undefined;
    }
  };
}

/** The request with a body that is read when it is needed. */
function withBody(request: Request, readBody: () => Promise<Uint8Array>) {
  const { url, method, headers, signal } = request;
  // No request with a body can be made of TRACE either.
  if (['GET', 'HEAD', 'TRACE'].includes(method)) return request;
  const pull = async (controller: ReadableStreamDefaultController) => {
    const bytes = await readBody();
    if (bytes.length > 0) controller.enqueue(bytes);
    controller.close();
  };
  const body = new ReadableStream({ pull }, { highWaterMark: 0 });
  // Not every library of types knows `duplex`, which Node needs for a streamed body.
  const init: RequestInit & { duplex: 'half' } = { method, headers, signal, body, duplex: 'half' };
  return new Request(url, init);
}
