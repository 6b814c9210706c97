/** Each family of checks, on every server with a fault that it looks for, and on the right one. */
import { describeFamily } from './family.test-support.ts';

// state-integrity.proof.ts has those: they present the state some hundred times.
const INTEGRITY = ['state.forged', 'state.tampered', 'state.malformed', 'state.aliased'];

for (const family of [
  'wire',
  'capability',
  'answer',
  'refusal',
  'retry',
  'effect',
  'instance',
  'era',
  'abandon',
])
  describeFamily(family);
describeFamily('state', INTEGRITY);
