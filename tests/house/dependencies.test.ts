/** Dependencies between the folders of a package. Lint checks imports of packages, and Turborepo finds their cycles. */
import { basename, dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';

/** The folders with code, and the folders that each imports from. */
function foldersOf(sources: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const imports = new Map<string, Set<string>>();
  for (const file of sources) {
    const folder = dirname(file);
    const targets = imports.get(folder) ?? new Set();
    imports.set(folder, targets);
    for (const [, path = ''] of textOf(file).matchAll(/^(?:import|export|\}) [^'\n]*'(\.[^']+)';$/gm)) {
      const target = dirname(join(folder, path));
      if (target !== folder) targets.add(target);
    }
  }
  return new Map([...imports].map(([folder, targets]) => [folder, [...targets]]));
}

const folders = foldersOf(
  projectFiles().filter((file) => /^packages\/[^/]+\/src\/.*(?<!\.test|\.test-support|\.d)\.ts$/.test(file)),
);

test.each([['core', ['diagnostics', 'wire', 'questions', 'answers', 'state', 'admission']]])(
  'a folder of %s imports only from the folders below it',
  (name, rank) => {
    const own = [...folders].filter(([folder]) => folder.startsWith(`packages/${name}/src/`));
    expect(own.map(([folder]) => basename(folder)).sort()).toEqual([...rank].sort());
    for (const [folder, targets] of own)
      for (const target of targets)
        expect(rank.indexOf(basename(target)), `${folder} → ${target}`).toBeLessThan(
          rank.indexOf(basename(folder)),
        );
  },
);
