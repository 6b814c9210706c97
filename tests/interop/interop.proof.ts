/** The taps of `pnpm interop`, which itself is run by hand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { measurementOf } from './measurement.ts';
import { callWithOurs } from './our-client.ts';
import { Options, tapped } from './target.ts';

test('a tap changes nothing and notes everything, on both transports', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-interop-'));
  const options = new Options();
  onTestFinished(async () => {
    await options.close();
    await rm(folder, { recursive: true });
  });
  for (const [transport, client, revision] of [
    ['stdio', 'legacy', '2025-11-25'],
    ['HTTP', 'modern', '2026-07-28'],
  ] as const) {
    const { target, wire, close } = await tapped(await options.target('E', transport), folder);
    const report = await callWithOurs(client, target);
    const question = 'arrived';
    expect(measurementOf(report, await wire())).toEqual({ revision, question, got: '72°F, as answered' });
    expect((await wire()).asks).toBe(true);
    await close();
  }
});
