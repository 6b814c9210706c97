import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { projectFiles } from '../testkit/project-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('biome.json has an import rule for every package, demo and tool', async () => {
  const rooms = projectFiles().flatMap(
    (file) => /^((?:packages|demos|tools)\/[^/]+)\/package\.json$/.exec(file)?.[1] ?? [],
  );
  expect(rooms.length).toBeGreaterThan(30);
  const copy = await mkdtemp(join(tmpdir(), 'mrtr-imports-'));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp(join(ROOT, 'biome.json'), join(copy, 'biome.json'));
  for (const room of rooms) {
    await mkdir(join(copy, room), { recursive: true });
    // Nothing imports from tests.
    await writeFile(join(copy, room, 'planted.ts'), "import '@mrtr/tests';");
  }
  const { stdout } = spawnSync(
    join(ROOT, 'node_modules/.bin/biome'),
    [
      'lint',
      '--vcs-enabled=false',
      '--only=noRestrictedImports',
      '--max-diagnostics=none',
      '--reporter=json',
    ],
    { cwd: copy, encoding: 'utf8' },
  );
  const found = (JSON.parse(stdout) as Report).diagnostics.map(({ location }) => location.path);
  expect(found.sort()).toEqual(rooms.map((room) => `${room}/planted.ts`).sort());
});

interface Report {
  readonly diagnostics: readonly { readonly location: { readonly path: string } }[];
}
