/**
 * Every fault is found on prompts and resources too, and over stdio. exactly.proof.ts tries tools over HTTP. A method and a
 * transport have no code in common, so of their pairs two more are enough.
 */
import type { Inputs } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { checkBare, findings, verdicts } from './bare.test-support.ts';
import { FAULTS, type Fault, RACING } from './faults.ts';

const ARGUMENTS = { to: 'bob', amount: '5' };

/** The same conversation, with the same effect, behind each method. */
const KINDS: Readonly<Record<'prompt' | 'resource', Partial<Inputs>>> = {
  prompt: {
    operation: { kind: 'prompt', name: 'transfer', arguments: ARGUMENTS },
    otherOperation: { kind: 'prompt', name: 'refund', arguments: ARGUMENTS },
    otherArguments: { ...ARGUMENTS, to: 'carol' },
  },
  resource: {
    operation: { kind: 'resource', name: 'bank://transfer/bob/5', arguments: {} },
    otherOperation: { kind: 'resource', name: 'bank://refund/bob/5', arguments: {} },
    otherArguments: { uri: 'bank://transfer/carol/5' },
  },
};

const OTHER_METHOD: Partial<Inputs> = {
  otherOperation: { kind: 'tool', name: 'transfer', arguments: ARGUMENTS },
};

/** Over stdio there is one principal, and no connection of one request. */
const HTTP_ALONE = ['state.other-principal', 'retry.lost-response', 'era.stateless'];

describe.each([
  ['prompt', 'http'],
  ['resource', 'stdio'],
] as const)('a %s over %s', (kind, transport) => {
  const isFound = async ({ id, found, ...options }: Fault) => {
    const only = Object.keys(found);
    const method = id === 'state.other-method' ? OTHER_METHOD : {};
    const given = { ...options, only, transport, inputs: { ...options.inputs, ...KINDS[kind], ...method } };
    const means = (one: string) => transport === 'http' || !HTTP_ALONE.includes(one);
    const expected = Object.fromEntries(Object.entries(found).filter(([one]) => means(one)));
    expect(findings(await checkBare({ ...given, fault: id }))).toEqual(expected);
  };
  it.concurrent.each(FAULTS.filter(({ id }) => !RACING.includes(id)))('has the fault of $id', isFound);
  it.each(FAULTS.filter(({ id }) => RACING.includes(id)))('has the fault of $id', isFound);

  it('has no fault on the right server, and every check runs that means something there', async () => {
    const run = await checkBare({ transport, next: [], inputs: KINDS[kind] });
    expect(findings(run)).toEqual({});
    expect(Object.keys(verdicts(run, 'not-applicable'))).toEqual([
      'state.forged',
      ...HTTP_ALONE.filter((id) => transport === 'stdio' && id === 'state.other-principal'),
      ...HTTP_ALONE.filter((id) => transport === 'stdio' && id === 'retry.lost-response'),
      'deploy.reworded',
      'deploy.unfit',
      ...HTTP_ALONE.filter((id) => transport === 'stdio' && id === 'era.stateless'),
    ]);
    expect(Object.keys(verdicts(run, 'not-run'))).toEqual(['state.other-method', 'state.expired']);
  });
});
