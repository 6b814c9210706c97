/** What a published manifest owes and `pnpm pack:check` does not find: it runs publint and attw, and lists stray files. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Manifest, publishedFolders, ROOT, readManifest } from '../pack/packages.ts';

const packages = publishedFolders().map((folder) => {
  const name = folder.slice(join(ROOT, 'packages/').length);
  return [name, readManifest(folder)] as const;
});
const HOME = 'https://github.com/mrtr-shapes/mrtr-shapes';
const SDKS = /^@modelcontextprotocol\//;

const program = (source: string) => source.replace('./src/', './dist/').replace(/\.ts$/, '.js');
const mapped = (record: Readonly<Record<string, string>>, to: (value: string) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));

/** The published exports of an entry point: both module formats. Each has its own types, but for what is JavaScript. */
function published(source: string): unknown {
  if (!/\.[jt]s$/.test(source)) return source;
  const built = (folder: string) => {
    const file = source.replace(/^\.\/src\//, folder).replace(/\.[jt]s$/, '');
    return { ...(source.endsWith('.ts') && { types: `${file}.d.ts` }), default: `${file}.js` };
  };
  return { import: built('./dist/'), require: built('./dist/cjs/') };
}

test.each(packages)('%s says all that a registry shows, and how it is built', (name, manifest) => {
  expect(manifest).toMatchObject({
    name: `@mrtr/${name}`,
    description: expect.stringMatching(/^[A-Z].{20,}[^.]$/),
    keywords: expect.arrayContaining(['mcp', 'model-context-protocol', 'mrtr']),
    homepage: `${HOME}/tree/main/packages/${name}#readme`,
    bugs: `${HOME}/issues`,
    repository: { type: 'git', url: `git+${HOME}.git`, directory: `packages/${name}` },
    license: 'MIT',
    sideEffects: false,
    engines: { node: '>=20.19' },
    // To these lead the maps of what is built.
    files: expect.arrayContaining(['src']),
    // The checker includes the lab's viewer, which has its own build tools.
    scripts: { prepack: name === 'check' ? 'pnpm run build && pnpm run viewer' : 'pnpm run build' },
  });
});

test.each(packages)('%s publishes each entry point in both formats, and nothing else', (name, manifest) => {
  const { exports, publishConfig, bin } = manifest;
  expect(exports).toHaveProperty(['./package.json'], './package.json');
  expect(publishConfig, `publishConfig in packages/${name}/package.json`).toEqual({
    access: 'public',
    ...(bin && { bin: mapped(bin, program) }),
    exports: mapped(exports as Readonly<Record<string, string>>, published),
  });
});

test.each(packages)('%s takes the SDKs as peers, and its siblings at its own version', (_, manifest) => {
  const { dependencies = {}, peerDependencies = {}, devDependencies = {}, bin }: Manifest = manifest;
  // A program has the SDK as its own dependency.
  if (!bin) expect(Object.keys(dependencies).filter((name) => SDKS.test(name))).toEqual([]);
  const siblings = Object.entries(dependencies).filter(([name]) => name.startsWith('@mrtr/'));
  for (const [, version] of siblings) expect(version).toBe('workspace:*');
  for (const name of Object.keys(peerDependencies).filter((peer) => SDKS.test(peer))) {
    expect(devDependencies[name]).toBe('catalog:');
  }
});

test('packages that take the same SDK take the same range of it', () => {
  const ranges = packages.flatMap(([, { peerDependencies = {} }]) =>
    Object.entries(peerDependencies).filter(([name]) => SDKS.test(name) && !name.endsWith('/sdk')),
  );
  expect(new Set(ranges.map(([, range]) => range)).size).toBe(1);
});

test('core and shapes need no schema library', () => {
  for (const [name, { dependencies = {}, peerDependencies = {} }] of packages) {
    if (name !== 'core' && name !== 'shapes') continue;
    expect(Object.keys({ ...dependencies, ...peerDependencies })).not.toContain('zod');
  }
});
