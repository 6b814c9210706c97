/** Raw calls of both eras that wait for the test. */
import { requestInit } from '@mrtr/harness/internal';
import { onTestFinished } from 'vitest';
import {
  beginSession,
  type HostedOptions,
  hosting,
  oldRequest,
  read,
  withHeaders,
} from './hosting.test-support.ts';
import { listVerifier } from './list-verifier.ts';

export const verifier = listVerifier('ada=the-token-of-ada,bob=the-token-of-bob');

/** The same request with a token. */
export const as = (subject: string, init: RequestInit): RequestInit => withHeaders(init, bearerOf(subject));

const bearerOf = (subject: string) => ({ authorization: `Bearer the-token-of-${subject}` });

/** A server, and waiting requests of new and old clients. */
export async function waiting(options: HostedOptions = {}) {
  const served = await hosting(options);
  const { url } = served;
  const session = (subject?: string) => beginSession(url, subject === undefined ? {} : bearerOf(subject));
  const left = new AbortController();
  onTestFinished(() => left.abort());
  /** Sends a waiting call. Resolves when its handler has begun, or with the rejection. */
  const enters = async (init: RequestInit): Promise<unknown> => {
    const entered = served.nextEntry().then(() => 'entered');
    // The client may hang up.
    const rejected = fetch(url, { signal: left.signal, ...init })
      .then(read)
      .catch(() => entered);
    return Promise.race([rejected, entered]);
  };
  return { ...served, served, enters, session };
}

export const newCall = (params: object = {}) => requestInit('tools/call', { name: 'wait', ...params });
export const oldCall = (session: string, id: number) =>
  oldRequest('tools/call', { name: 'wait' }, session, id);

/** The rejection by a policy whose calls are all running. */
export const TOO_MANY_CALLS = {
  status: 200,
  error: {
    code: -32603,
    message: 'This server has too many calls running. Try again when one has ended.',
    data: { reason: 'too_many_calls' },
  },
};
