/** The published packages: every folder of `packages` whose manifest is not private. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './program.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Gets each check's result; `problem` is undefined if it passed. */
export type Report = (what: string, problem?: string) => void;

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface Packed {
  /** The manifest in the tarball. */
  readonly manifest: Manifest;
  readonly tarball: string;
  readonly files: readonly string[];
}

export const publishedFolders = (): string[] =>
  readdirSync(join(ROOT, 'packages'))
    .map((name) => join(ROOT, 'packages', name))
    .filter((folder) => readdirSync(folder).includes('package.json'))
    .filter((folder) => !readManifest(folder).private);

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The entry points that are code, such as `@mrtr/core/shape`. */
export const entryPoints = ({ name, exports }: Manifest): string[] =>
  Object.entries(exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([path]) => name + path.slice(1));

export async function pack(folder: string): Promise<Packed[]> {
  for (const script of [['build'], ['--filter', '@mrtr/check', 'viewer']])
    execFileSync('pnpm', ['--silent', 'run', ...script], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  const packOne = async (cwd: string): Promise<Packed> => {
    const args = ['pack', '--json', '--pack-destination', folder, '--config.ignore-scripts=true'];
    const packed = JSON.parse(await outputOf('pnpm', args, cwd));
    const { filename: tarball, files } = Array.isArray(packed) ? packed[0] : packed;
    const manifest = JSON.parse(await outputOf('tar', ['-xzOf', tarball, 'package/package.json'], cwd));
    return { manifest, tarball, files: files.map(({ path }: { path: string }) => path) };
  };
  return Promise.all(publishedFolders().map(packOne));
}

async function outputOf(file: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, problem } = await run(file, args, cwd);
  if (problem !== undefined) throw new Error(problem);
  return stdout;
}
