/** What a client can make a server do by sending what no user said and what this call's server never gave out. */
import { randomBytes } from 'node:crypto';
import { requestStatePolicy } from '@mrtr/core';
import { InProcess } from '@mrtr/harness';
import { createWorld, RESOLVE_WORK_ITEM } from '@mrtr/tools';
import type { Subject } from './subject.ts';

/** What was measured. */
export interface Forged {
  /** An answer to a question that was not asked yet: whether an item was written by it. */
  readonly unaskedAnswer: 'refused' | 'taken';
  /** The state of another item's call: whether this item was written by it. */
  readonly stateOfAnotherCall: 'refused' | 'taken';
}

/** Sends both to an instance in memory. */
export async function forge(subject: Subject): Promise<Forged> {
  let writes = 0;
  const world = createWorld({ onWrite: () => void writes++ });
  const state = requestStatePolicy({ keys: [randomBytes(32)], legacy: 'degrade', singleUse: false });
  const instance = subject.create({ world, state });
  if ('fetch' in instance) throw new Error(`'${subject.id}' hosts itself: its calls have no rounds.`);
  const site = new InProcess(() => instance.server());
  const resolve = (id: number, given: object = {}) =>
    site.post('tools/call', { name: RESOLVE_WORK_ITEM, arguments: { id, state: 'Resolved' }, ...given });
  try {
    await resolve(4522, { inputResponses: accept('resolution', { resolution: 'Fixed' }) });
    const unaskedAnswer = writes > 0 ? 'taken' : 'refused';
    writes = 0;

    const first = await resolve(4522);
    const second = await resolve(4522, {
      inputResponses: accept('resolution', { resolution: 'Duplicate' }),
      requestState: first.result?.requestState,
    });
    await resolve(4301, {
      inputResponses: accept('original', { original: 4522 }),
      requestState: second.result?.requestState,
    });
    return { unaskedAnswer, stateOfAnotherCall: writes > 0 ? 'taken' : 'refused' };
  } finally {
    await site.close();
    await instance.close?.();
  }
}

const accept = (key: string, content: object) => ({ [key]: { action: 'accept', content } });
