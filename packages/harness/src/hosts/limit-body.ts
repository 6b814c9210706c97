/** Limits what a server may answer. */

/** A longer answer would fill the memory. */
export const MAX_BYTES = 4 * 1024 * 1024;

export const TOO_LONG: string = `the answer is longer than ${MAX_BYTES / 1024 / 1024} MiB`;

/** The response with an error in its body where that exceeds {@link MAX_BYTES}. */
export function limitBody(response: Response): Response {
  if (response.body === null) return response;
  let read = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.length;
      if (read > MAX_BYTES) controller.error(new Error(TOO_LONG));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(count), response);
}
