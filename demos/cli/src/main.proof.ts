import { describe, expect, test } from 'vitest';
import { program } from './program.test-support.ts';

describe.concurrent('pnpm demo, in its own process', () => {
  test('a wrong command line prints what exists on stderr, with exit code 2', async () => {
    const { code, out, err } = await program('basic --frobnicate');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain("Unknown option '--frobnicate'. Options:");
    expect(err).not.toContain('    at ');
  });

  test('a reader that hangs up does not make the command fail', async () => {
    const { code, err } = await program('basic', { hangUp: true });
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
