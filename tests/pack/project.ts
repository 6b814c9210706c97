/** An empty project that installs our packages with npm: its types, and its programs in each runtime. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints, type Packed, type Report, ROOT } from './packages.ts';
import { run } from './program.ts';

const TOOLS = join(ROOT, 'tests/pack/tools/node_modules');
const CONSUMER = join(ROOT, 'tests/pack/consumer');

/** An application's own dependencies besides the SDKs: another peer, types and schema libraries. */
const APPLICATION = [
  '@opentelemetry/api@1.9.1',
  '@types/node@20',
  '@valibot/to-json-schema@1.8.0',
  'arktype@2.2.9',
  'valibot@1.5.0',
  'zod@4.6.7',
];

/** Its tests need vitest, which cannot be required. */
export const NEEDS_VITEST = '@mrtr/ledgers/contract';

/** `both-formats` and `entry-points` use both formats, from an ES module. */
const FORMATS = [
  { name: 'esm', type: 'module', programs: ['round-trip', 'both-formats', 'entry-points'] },
  { name: 'cjs', type: 'commonjs', programs: ['round-trip'] },
] as const;

const COMPILERS = {
  'TypeScript 7': { tsc: join(ROOT, 'node_modules/.bin/tsc'), way: 'nodenext', args: [] },
  'TypeScript 7 for bundlers': { tsc: join(ROOT, 'node_modules/.bin/tsc'), way: 'bundler', args: [] },
  'TypeScript 5.9': { tsc: join(TOOLS, '.bin/tsc'), way: 'nodenext', args: ['--noEmit'] },
} as const;

/**
 * Makes the project in `folder`, and installs the packages and the SDKs in it. Each package is installed from its
 * tarball, at the version that its siblings need. Returns `folder`.
 */
export async function install(
  folder: string,
  packages: readonly Packed[],
  sdks: readonly string[],
): Promise<string> {
  for (const format of FORMATS) {
    mkdirSync(join(folder, format.name, 'out'), { recursive: true });
    for (const place of [format.name, `${format.name}/out`]) {
      writeFileSync(join(folder, place, 'package.json'), JSON.stringify({ type: format.type }));
    }
    for (const program of format.programs) {
      cpSync(join(CONSUMER, `${program}.ts`), join(folder, format.name, `${program}.ts`));
    }
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const tarballs = packages.map(({ tarball }) => tarball);
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const { problem } = await run('npm', ['install', ...options, ...tarballs, ...sdks, ...APPLICATION], folder);
  if (problem !== undefined) throw new Error(`npm could not install the packages.\n${problem}`);
  return folder;
}

/** Compiles the programs strictly, dependencies included, in each format and with each module resolution. */
export async function checkTypes(project: string, report: Report): Promise<void> {
  for (const { name, type } of FORMATS) {
    const ways = {
      nodenext: { module: 'nodenext', outDir: 'out' },
      bundler: { module: type === 'module' ? 'esnext' : type, moduleResolution: 'bundler', noEmit: true },
    };
    for (const [way, options] of Object.entries(ways)) {
      const compilerOptions = { strict: true, target: 'es2023', types: ['node'], ...options };
      const config = { compilerOptions: { ...compilerOptions, skipLibCheck: false }, include: ['*.ts'] };
      writeFileSync(join(project, name, `${way}.json`), JSON.stringify(config));
    }
    const compiled = await Promise.all(
      Object.entries(COMPILERS).map(async ([compiler, { tsc, way, args }]) => {
        const { problem } = await run(tsc, ['-p', join(project, name, `${way}.json`), ...args], project);
        return [`${compiler}, ${name}`, problem] as const;
      }),
    );
    for (const [what, problem] of compiled) report(what, problem);
  }
}

/** Runs every program in the runtimes, and returns the output of the round trips. */
export async function runPrograms(
  project: string,
  packages: readonly Packed[],
  runtimes: Runtimes,
  report: Report,
): Promise<string[]> {
  const entries = packages.flatMap(({ manifest }) => entryPoints(manifest));
  const loadable = entries.filter((entry) => entry !== NEEDS_VITEST);
  const outputs: string[] = [];
  for (const [runtime, [file, ...options]] of Object.entries(runtimes)) {
    const programs = FORMATS.flatMap(({ name, programs }) => programs.map((program) => ({ name, program })));
    const ended = await Promise.all(
      programs.map(async ({ name, program }) => {
        const args = program === 'entry-points' ? loadable : [];
        const path = join(project, name, 'out', `${program}.js`);
        return { name, program, ...(await run(file, [...options, path, ...args], project)) };
      }),
    );
    for (const { name, program, stdout, problem } of ended) {
      if (program === 'round-trip') outputs.push(stdout);
      report(`${runtime}, ${name}: ${program}`, problem);
    }
  }
  return outputs;
}

/** Checks that every installed program prints its help. */
export async function runBins(project: string, packages: readonly Packed[], report: Report): Promise<void> {
  for (const name of packages.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}))) {
    const { problem } = await run(join(project, 'node_modules/.bin', name), ['--help'], project);
    report(`${name} --help`, problem);
  }
}

/** Checks that the installed checker's page contains the viewer. The check needs no server. */
export async function runReport(project: string, report: Report): Promise<void> {
  const file = join(project, 'report.html');
  const call = ['--tool', 'a', '--allow-effects', '--only', 'wire', 'http://127.0.0.1:1/mcp'];
  const { stdout } = await run(
    join(project, 'node_modules/.bin/mrtr-check'),
    ['--report', `html=${file}`, ...call],
    project,
  );
  const page = existsSync(file) ? readFileSync(file, 'utf8') : stdout;
  const [style = '', script = ''] = [
    /<style>([\s\S]*?)<\/style>\s*<\/head>/,
    /<script>([\s\S]*)<\/script>\s*<\/body>/,
  ].map((element) => element.exec(page)?.[1]);
  const isWhole =
    style.includes('.mrtr-viewer') && script.includes('mrtr-viewer') && !/<\/script|<!--/i.test(script);
  report('mrtr-check --report html: a page with the viewer in it', isWhole ? undefined : page);
}

/** The commands of runtimes, by their names. */
type Runtimes = Readonly<Record<string, readonly [string, ...string[]]>>;

/** Every runtime on this machine, the oldest Node first. */
export function everyRuntime(): Runtimes {
  const nodes = readdirSync(TOOLS)
    .filter((name) => /^node-\d+$/.test(name))
    .map((name) => [name, [join(TOOLS, name, 'bin/node')] as [string]] as const)
    .filter(([, [node]]) => existsSync(node));
  const installed =
    nodes.length > 0 ? nodes : [[`node ${process.version}`, [process.execPath] as [string]] as const];
  return {
    ...Object.fromEntries(installed),
    bun: [join(TOOLS, '.bin/bun')],
    deno: [join(TOOLS, '.bin/deno'), 'run', '--allow-all', '--quiet'],
  };
}
