/** Every fault with every check: exactly the expected findings, all others silent. And every check, undecided. */
import { CHECKS } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { checkBare, findings } from './bare.test-support.ts';
import { FAULTS, type Fault, RACING } from './faults.ts';

// That one measures time, and makes as many calls as all others together: it is tried on its own fault, and on no other.
const QUICK = CHECKS.map(({ id }) => id).filter((id) => id !== 'abandon.flat');

// Of a fault between two versions, one alone shows nothing: then only checks are tried that look at something near.
const NEAR = ['deploy', 'effect', 'retry.twice'];

describe('every check on every faulty server', () => {
  const isFoundAlone = async ({ id, found, ...options }: Fault) => {
    const only = options.next ? NEAR : QUICK.includes(id) ? QUICK : [...QUICK, id];
    expect(findings(await checkBare({ fault: id, only, ...options }))).toEqual(found);
  };
  const faultOf = 'the fault of $id is found, and nothing else';
  // A run waits for its probe most of its time.
  it.concurrent.each(FAULTS.filter(({ id }) => !RACING.includes(id)))(faultOf, isFoundAlone);
  it.each(FAULTS.filter(({ id }) => RACING.includes(id)))(faultOf, isFoundAlone);
});

const PROMPT = { kind: 'prompt', name: 'transfer', arguments: { to: 'bob', amount: 5 } } as const;

describe('every check alone, where its honest calls fail', () => {
  it.concurrent.each(CHECKS.map(({ id }) => id))('%s could not run', async (id) => {
    const inputs = { ttlSeconds: 0, ...(id === 'state.other-method' && { otherOperation: PROMPT }) };
    // Two honest calls of three requests each, and then every call is an isError result.
    const next = id.startsWith('deploy.') ? ['--calls-until-broken', 'Infinity'] : undefined;
    const run = await checkBare({ only: [id], args: ['--calls-until-broken', '6'], inputs, next });
    expect(run.checked.map(({ verdict }) => verdict)).toEqual(['could-not-run']);
  });
});

it('a server that gives a call up at the first bad state is asked with a new call each time', async () => {
  const only = ['state.forged', 'state.tampered', 'state.malformed', 'state.aliased'];
  const args = ['--burns'];
  // A forgery with its old signature is refused, and the call with it: the one without a signature needs another call.
  const faulty = await checkBare({ fault: 'state.forged', only: ['state.forged'], args });
  expect(findings(faulty)).toEqual({ 'state.forged': 'fail' });
  expect(findings(await checkBare({ only, args }))).toEqual({});
});
