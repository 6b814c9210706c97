/** Installs each package alone, as docs/recipes/README.md says, where no registry answers for our names. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints, type Packed, type Report, ROOT } from './packages.ts';
import { run } from './program.ts';
import { NEEDS_VITEST } from './project.ts';

/** The page's command, for one package. */
function packCommand(name: string, destination: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/recipes/README.md'), 'utf8');
  const [, filter] =
    /^npx -y pnpm@12 -r (--filter-prod) @mrtr\/\S+\.\.\. .*pack --pack-destination \S+$/m.exec(page) ?? [];
  if (!filter)
    throw new Error('docs/recipes/README.md has no command that packs a package and what it needs.');
  return ['-r', filter, `${name}...`, 'pack', '--pack-destination', destination];
}

/** Sends requests for our names to a port where nothing listens: a registry does not have them either. */
const NOBODY = '@mrtr:registry=http://127.0.0.1:9/\nfetch-retries=0\n';

/** Packs and installs each package in an empty project of its own, and loads its entry points. */
export async function installAlone(
  folder: string,
  packages: readonly Packed[],
  report: Report,
): Promise<void> {
  for (const { manifest } of packages) {
    const project = join(folder, manifest.name.slice('@mrtr/'.length));
    mkdirSync(join(project, 'packed'), { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(project, '.npmrc'), NOBODY);
    const { problem } = await installOne(manifest.name, project);
    report(
      `${manifest.name}: alone, with what the page packs with it`,
      problem ?? (await load(manifest, project)),
    );
  }
}

async function installOne(name: string, project: string) {
  const destination = join(project, 'packed');
  // They are built already.
  const packed = await run('pnpm', [...packCommand(name, destination), '--config.ignore-scripts=true'], ROOT);
  if (packed.problem !== undefined) return packed;
  const files = readdirSync(destination).map((file) => join(destination, file));
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  return run('npm', ['install', ...options, ...files], project);
}

async function load(manifest: Packed['manifest'], project: string): Promise<string | undefined> {
  const loadable = entryPoints(manifest).filter((entry) => entry !== NEEDS_VITEST);
  const program = loadable.map((entry) => `await import('${entry}');`).join('\n');
  return (await run(process.execPath, ['--input-type=module', '--eval', program], project)).problem;
}
