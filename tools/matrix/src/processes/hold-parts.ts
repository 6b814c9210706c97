/** The response, each of whose parts is passed on only when `ready` has resolved. */
export function holdParts(response: Response, ready: () => Promise<unknown>): Response {
  const held = new TransformStream<Uint8Array, Uint8Array>({
    async transform(part, passed) {
      await ready();
      passed.enqueue(part);
    },
  });
  return new Response(response.body?.pipeThrough(held), response);
}
