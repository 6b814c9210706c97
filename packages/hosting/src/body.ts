/** The bodies of requests. */
import type { Readable } from 'node:stream';

const decoder = new TextDecoder();

/**
 * All of a body, as text; undefined where it is longer than `maxBytes`, of which no more is kept.
 *
 * @throws Error where its client goes away before its end.
 */
export const textOf = (body: Readable, maxBytes: number): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const gone = () => reject(new Error('The client went away before the end of its request'));
    if (body.destroyed) return gone();
    const chunks: Buffer[] = [];
    let bytes = 0;
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else resolve(undefined);
    });
    body.on('end', () => resolve(decoder.decode(Buffer.concat(chunks))));
    body.on('error', gone);
    body.on('close', gone);
  });
