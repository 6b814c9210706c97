/** How packages depend on each other, and folders within a package. Lint checks that each import is declared and allowed. */
import { basename, dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';

/** The packages of ours that each package of ours declares. */
type Graph = ReadonlyMap<string, readonly string[]>;

const declared: Graph = new Map(
  projectFiles()
    .filter((file) => /(?:^|\/)package\.json$/.test(file))
    .map((file) => JSON.parse(textOf(file)))
    .map(({ name, dependencies, devDependencies, peerDependencies }) => [
      name,
      Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }).filter((one) =>
        one.startsWith('@mrtr/'),
      ),
    ]),
);

/** The folders that hold code, and the folders that each imports from. */
function foldersOf(sources: readonly string[]): Graph {
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

/** The packages or folders on a circle, each as the way that leads back to it. */
function circlesIn(graph: Graph): string[] {
  const wayBack = (to: string, from: string, way: readonly string[]): string | undefined => {
    for (const next of graph.get(from) ?? []) {
      if (next === to) return [...way, to].join(' → ');
      const found = way.includes(next) ? undefined : wayBack(to, next, [...way, next]);
      if (found) return found;
    }
    return undefined;
  };
  return [...graph.keys()].flatMap((name) => wayBack(name, name, [name]) ?? []);
}

test('packages depend on each other in no circle', () => {
  expect(declared.size).toBeGreaterThan(30);
  expect(circlesIn(declared)).toEqual([]);
});

test('nothing depends on the tests', () => {
  const dependents = [...declared].filter(([, dependencies]) => dependencies.includes('@mrtr/tests'));
  expect(dependents).toEqual([]);
});

test.each([
  ['core', ['support', 'diagnostics', 'wire', 'questions', 'answers', 'state', 'admission']],
  ['hosting', ['instance', 'admission', 'http']],
])('a folder of %s imports only from the folders below it', (name, rank) => {
  const own = [...folders].filter(([folder]) => folder.startsWith(`packages/${name}/src/`));
  expect(own.map(([folder]) => basename(folder)).sort()).toEqual([...rank].sort());
  for (const [folder, targets] of own)
    for (const target of targets)
      expect(rank.indexOf(basename(target)), `${folder} → ${target}`).toBeLessThan(
        rank.indexOf(basename(folder)),
      );
});
