/** An empty project that installs our tarballs with npm: its types, and its programs in each runtime. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints, type Packed, type Report, ROOT } from './packages.ts';

const TOOLS = join(ROOT, 'tests/pack/tools/node_modules');
const CONSUMER = join(ROOT, 'tests/pack/consumer');

/** What an application brings itself: peers and schema libraries. */
const APPLICATION = [
  '@modelcontextprotocol/sdk@1.32.2',
  '@opentelemetry/api@1.9.1',
  '@types/node@20',
  '@valibot/to-json-schema@1.8.0',
  'arktype@2.2.9',
  'valibot@1.5.0',
  'zod@4.6.7',
];

/** Its tests are vitest's, which takes no `require`; the round trip needs no vitest. */
const NEEDS_VITEST = '@mrtr/ledgers/contract';

const FORMATS = { esm: 'module', cjs: 'commonjs' } as const;
/** `both-formats` and `entry-points` use both formats, from an ES module. */
const PROGRAMS = { esm: ['round-trip', 'both-formats', 'entry-points'], cjs: ['round-trip'] } as const;

/** Makes the project in `folder`, and installs the packages and `version` of the SDK in it. Returns `folder`. */
export function install(folder: string, packages: readonly Packed[], version: string): string {
  console.log(`\nSDK ${version}`);
  for (const [format, type] of Object.entries(FORMATS)) {
    mkdirSync(join(folder, format, 'out'), { recursive: true });
    for (const place of [format, `${format}/out`]) {
      writeFileSync(join(folder, place, 'package.json'), JSON.stringify({ type }));
    }
    for (const program of PROGRAMS[format as keyof typeof PROGRAMS]) {
      cpSync(join(CONSUMER, `${program}.ts`), join(folder, format, `${program}.ts`));
    }
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const sdk = ['server', 'client'].map((name) => `@modelcontextprotocol/${name}@${version}`);
  const tarballs = packages.map(({ tarball }) => tarball);
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const problem = run('npm', ['install', ...options, ...tarballs, ...sdk, ...APPLICATION], folder).problem;
  if (problem !== undefined) throw new Error(`npm could not install the tarballs.\n${problem}`);
  return folder;
}

/** Compiles the programs strictly, dependencies included, as each format and with each way of finding modules. */
export function checkTypes(project: string, report: Report): void {
  const compilers = { 'TypeScript 7': join(ROOT, 'node_modules/.bin/tsc'), '5.9': join(TOOLS, '.bin/tsc') };
  for (const [format, type] of Object.entries(FORMATS)) {
    const module = type === 'commonjs' ? 'commonjs' : 'esnext';
    const ways = {
      nodenext: { module: 'nodenext', outDir: 'out' },
      bundler: { module, moduleResolution: 'bundler', noEmit: true },
    };
    for (const [way, options] of Object.entries(ways)) {
      const compilerOptions = {
        strict: true,
        target: 'es2023',
        types: ['node'],
        skipLibCheck: false,
        ...options,
      };
      const config = join(project, format, `${way}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
      for (const [name, tsc] of Object.entries(compilers)) {
        // The older compiler takes four times as long: once a format is enough.
        if (name !== 'TypeScript 7' && way !== 'nodenext') continue;
        report(`${name}, ${format}, ${way}`, run(tsc, ['-p', config], project).problem);
      }
    }
  }
}

/** Runs every program in every runtime, and returns what the round trips print. */
export function runPrograms(project: string, packages: readonly Packed[], report: Report): string[] {
  const entries = packages.flatMap(({ manifest }) => entryPoints(manifest));
  const outputs: string[] = [];
  for (const [runtime, command] of Object.entries(runtimes())) {
    for (const [format, programs] of Object.entries(PROGRAMS)) {
      for (const program of programs) {
        const [file, ...options] = [...command];
        const args = program === 'entry-points' ? entries.filter((entry) => entry !== NEEDS_VITEST) : [];
        const path = join(project, format, 'out', `${program}.js`);
        const { problem, stdout } = run(file as string, [...options, path, ...args], project);
        if (program === 'round-trip') outputs.push(stdout);
        report(`${runtime}, ${format}: ${program}`, problem);
      }
    }
  }
  return outputs;
}

/** Every runtime that there is for this machine, and its command. */
function runtimes(): Record<string, readonly string[]> {
  const nodes = readdirSync(TOOLS)
    .filter((name) => /^node-\d+$/.test(name))
    .map((name) => [name, [join(TOOLS, name, 'bin/node')]] as const)
    .filter(([, [node]]) => existsSync(node as string));
  const installed = nodes.length > 0 ? nodes : [[`node ${process.version}`, [process.execPath]] as const];
  return {
    ...Object.fromEntries(installed),
    bun: [join(TOOLS, '.bin/bun')],
    deno: [join(TOOLS, '.bin/deno'), 'run', '--allow-all', '--quiet'],
  };
}

interface Ended {
  readonly stdout: string;
  /** What was written, where the program failed. */
  readonly problem: string | undefined;
}

function run(file: string, args: readonly string[], cwd: string): Ended {
  const patience = { timeout: 120_000, encoding: 'utf8', maxBuffer: 1e8 } as const;
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, ...patience });
  return { stdout, problem: status === 0 ? undefined : `${error ?? ''}${stdout}${stderr}` };
}
