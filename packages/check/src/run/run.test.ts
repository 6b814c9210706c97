import { describe, expect, test } from 'vitest';
import { otherArgumentsFrom } from '../answers/other-arguments.ts';
import { CHECKS } from '../checks/all.ts';
import { run, selectChecks } from './run.ts';

const idsOf = (...only: readonly string[]) => selectChecks(only).map(({ id }) => id);

describe('checks', () => {
  test('have unique ids, a clause and a remedy', () => {
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
    for (const { id, clause, remedy, expected } of CHECKS) {
      expect(id).toMatch(/^[a-z]+\.[a-z-]+$/);
      expect(clause.at).toMatch(/2026-07-28/);
      expect(clause.words.length).toBeGreaterThan(20);
      expect(remedy).toMatch(/\.$/);
      // First what to do, for authors in any language.
      expect(remedy.split(' In TypeScript: ')[0]).not.toMatch(/@mrtr|the SDK|\w\(\)/);
      expect(expected).toMatch(/\.$/);
    }
  });

  test('are selected by id, or by the first part of an id', () => {
    expect(idsOf('retry.twice')).toEqual(['retry.twice']);
    expect(idsOf('retry')).toEqual([
      'retry.twice',
      'retry.concurrent',
      'retry.lost-response',
      'retry.other-answers',
    ]);
    expect(() => selectChecks(['retr'])).toThrow("There is no check 'retr'");
  });
});

test.each([
  [{ ttl: 5 }, "run: there is no input 'ttl'. Did you mean 'ttlSeconds'?"],
  [{ limit: 5 }, /^run: there is no input 'limit'\. The inputs are answers, .*, mostSeconds\.$/],
])('run rejects the unknown input in %j before it starts anything', async (unknown, message) => {
  const operation = { kind: 'tool', name: 'send', arguments: {} } as const;
  const error = { code: 'usage_error', message: expect.stringMatching(message) };
  await expect(run({ address: {}, operation, ...unknown })).rejects.toMatchObject(error);
});

describe('other arguments', () => {
  test('change a choice rather than a text', () => {
    const schema = {
      type: 'object',
      properties: { note: { type: 'string' }, env: { type: 'string', enum: ['staging', 'production'] } },
    };
    const given = { note: 'x', env: 'staging' };
    expect(otherArgumentsFrom(schema, given, 1)).toEqual({ ...given, env: 'production' });
  });

  test('fit the schema, and are undefined if nothing else fits', () => {
    const bounded = { type: 'object', properties: { n: { type: 'integer', minimum: 1, maximum: 2 } } };
    expect(otherArgumentsFrom(bounded, { n: 2 }, 1)).toEqual({ n: 1 });
    const closed = { type: 'object', properties: { only: { const: 'x' } } };
    expect(otherArgumentsFrom(closed, { only: 'x' }, 1)).toBeUndefined();
    expect(otherArgumentsFrom(undefined, {}, 1)).toBeUndefined();
  });
});
