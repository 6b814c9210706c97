import { requestStatePolicy } from '@mrtr/core';

const shared = {
  keys: [process.env.STATE_KEY ?? 'a secret of 32 bytes or more, please'],
  singleUse: false,
} as const;

/** The policy of the running version. */
export const before = requestStatePolicy({ ...shared, version: '1' });

/** For new code that can read the state of version 1: calls in flight finish on it. */
export const compatible = requestStatePolicy({ ...shared, version: '2', acceptVersions: ['1'] });

/** For new code that cannot: calls in flight are rejected, and their clients start again. */
export const incompatible = requestStatePolicy({ ...shared, version: '2' });

/** A version for one tool. With `{ order: '2' }` only calls of `order` are rejected; other tools have no version. */
export const byTool = (order: string) => requestStatePolicy({ ...shared, version: { order } });
