/** Measures forged requests: an unasked answer, and the state of another call. */
import { randomBytes } from 'node:crypto';
import { createWorld, RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import type { Subject } from '@mrtr/comparison/calls';
import { requestStatePolicy } from '@mrtr/core';
import { InProcess } from '@mrtr/harness';

export interface Forged {
  readonly unaskedAnswer: 'rejected' | 'taken';
  readonly stateOfAnotherCall: 'rejected' | 'taken';
}

export async function forge(subject: Subject): Promise<Forged> {
  let writes = 0;
  const world = createWorld({ onWrite: () => void writes++ });
  const policy = requestStatePolicy({ keys: [randomBytes(32)], legacy: 'degrade' });
  const instance = subject.create({ world, policy });
  if ('fetch' in instance) throw new Error(`'${subject.id}' hosts itself: its calls have no rounds.`);
  const site = new InProcess(() => instance.server());
  const resolve = (id: number, given: object = {}) =>
    site.post('tools/call', { name: RESOLVE_WORK_ITEM, arguments: { id, state: 'Resolved' }, ...given });
  try {
    await resolve(4522, { inputResponses: accept('resolution', { resolution: 'Fixed' }) });
    const unaskedAnswer = writes > 0 ? 'taken' : 'rejected';
    writes = 0;

    const first = await resolve(4522);
    const second = await resolve(4522, {
      inputResponses: accept('resolution', { resolution: 'Duplicate' }),
      requestState: first.result?.requestState,
    });
    await resolve(4301, {
      inputResponses: accept('original', { original: '4522' }),
      requestState: second.result?.requestState,
    });
    return { unaskedAnswer, stateOfAnotherCall: writes > 0 ? 'taken' : 'rejected' };
  } finally {
    await site.close();
    await instance.close?.();
  }
}

const accept = (key: string, content: object) => ({ [key]: { action: 'accept', content } });
