/** A transcript as a link. */
import { deflateRawSync } from 'node:zlib';
import type { Transcript } from '../transcript/transcript.ts';

/** The lab opens no longer one. */
const MAX_LINK = 100_000;

/**
 * A link that opens a transcript in the lab, with all of it after the `#`, so that no server sees it. Undefined above 100 000
 * characters: the lab opens it as a file.
 *
 * @param lab the address of a lab, live or exported.
 * @example
 * onTestFailed(() => console.log(labLink(transcript, 'https://lab.example/')));
 */
export function labLink(transcript: Transcript, lab: string): string | undefined {
  const packed = deflateRawSync(JSON.stringify(transcript)).toString('base64url');
  return packed.length > MAX_LINK ? undefined : `${lab}#open=${packed}`;
}
