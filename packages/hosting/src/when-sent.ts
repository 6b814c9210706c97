/**
 * Calls `done` once, when the response has ended: its body was sent, failed or was cancelled, or the request's signal
 * fired.
 */
export function whenSent(request: Request, response: Response, done: () => void): Response {
  if (!response.body) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const end = () => {
    over();
    reader.cancel().catch(() => {});
  };
  // Reference the request: otherwise Node may garbage-collect the code that forwards a signal to it.
  const over = () => {
    request.signal.removeEventListener('abort', end);
    done();
    done = () => {};
  };
  request.signal.addEventListener('abort', end);
  if (request.signal.aborted) end();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (!ended) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      over();
    },
    cancel: end,
  });
  return new Response(body, response);
}
