/** What the manifests say of each other. Lint sees to the imports: each has to be declared, and to be allowed. */
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

/** The packages on a circle, each as the way that leads back to it. */
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

test('a circle is found', () => {
  expect(circlesIn(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b'] })))).toEqual([
    'b → c → b',
    'c → b → c',
  ]);
});

test('nothing depends on the tests', () => {
  const dependents = [...declared].filter(([, dependencies]) => dependencies.includes('@mrtr/tests'));
  expect(dependents).toEqual([]);
});
