import { expect, it } from 'vitest';
import { checkBare, findings } from './bare.test-support.ts';
import { describeChecks } from './family.test-support.ts';

const INTEGRITY = ['state.forged', 'state.tampered', 'state.malformed', 'state.aliased'];

describeChecks('the integrity of state', INTEGRITY, INTEGRITY);

it('a server that gives a call up at the first bad state is asked with a new call each time', async () => {
  const args = ['--burns'];
  // A forgery with its old signature is refused, and the call with it: the one without a signature needs another call.
  const faulty = await checkBare({ fault: 'state.forged', only: ['state.forged'], args });
  expect(findings(faulty)).toEqual({ 'state.forged': 'fail' });
  expect(findings(await checkBare({ only: INTEGRITY, args }))).toEqual({});
}, 30_000);
