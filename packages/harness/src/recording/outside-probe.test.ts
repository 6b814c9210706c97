import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readOutside } from './outside-probe.ts';

test.skipIf(process.platform !== 'linux')('what a command has started ends with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-probe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stop = new AbortController();
  const reading = readOutside('cmd', 'sleep 1000 & echo $! > pid; wait', {
    signal: stop.signal,
    cwd: folder,
  }).catch((error: Error) => error.message);
  const idOf = () => Number(readFileSync(join(folder, 'pid'), 'utf8') || Number.NaN);
  await expect.poll(idOf).toBeGreaterThan(1);
  stop.abort();
  expect(await reading).toMatch(/^the probe could not be read: .+ aborted/);
  await expect.poll(() => isRunning(idOf())).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    // A process that has ended, and that nobody has collected, has no command line.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

test('a command that fails says what it wrote, and one that writes without end is stopped', async () => {
  const { signal } = new AbortController();
  await expect(readOutside('cmd', 'echo no key >&2; exit 3', { signal })).rejects.toThrow(
    /^the probe could not be read: Command failed: .+ exit 3\nno key$/,
  );
  await expect(readOutside('cmd', 'yes', { signal })).rejects.toThrow('longer than 4 MiB');
});
