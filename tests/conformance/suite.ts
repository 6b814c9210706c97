/** The official suite: its scenarios, and running one of them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SUITE = fileURLToPath(new URL('suite/node_modules/@modelcontextprotocol/conformance', import.meta.url));
const REVISION = '2026-07-28';
const PATIENCE_MS = 60_000;

/** This folder, in which the suite's commands run. */
const HERE = fileURLToPath(new URL('.', import.meta.url));

/** The verdict on one scenario. */
export interface Verdict {
  readonly scenario: string;
  /** Whether there were checks, and all succeeded. The suite is less strict: it accepts a server's warnings. */
  readonly passed: boolean;
  readonly checks: number;
  /** The reasons of a failure. */
  readonly reasons: readonly string[];
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** The version of the suite. */
export async function suiteVersion(): Promise<string> {
  return (JSON.parse(await readFile(join(SUITE, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The scenarios for MRTR servers that the revision requires, from the suite's own list. */
export async function serverScenarios(): Promise<string[]> {
  const required = await readFile(join(SUITE, `requirements/${REVISION}.yaml`), 'utf8');
  return [...required.matchAll(/^ *- (input-required-result-\S+)$/gm)].map(([, name]) => name as string);
}

/** The scenario for MRTR clients. */
const CLIENT_SCENARIO = 'sep-2322-client-request-state';

/** Runs one scenario against the server at `url`. */
export const testServer = (node: string, scenario: string, url: string): Promise<Verdict> =>
  test(node, scenario, ['server', '--url', url]);

/** Runs the client scenario: the suite starts `command` with the address of its own server. */
export const testClient = (node: string, command: string): Promise<Verdict> =>
  test(node, CLIENT_SCENARIO, ['client', '--command', command]);

async function test(node: string, scenario: string, subject: readonly string[]): Promise<Verdict> {
  const output = await mkdtemp(join(tmpdir(), 'mrtr-conformance-'));
  try {
    const cli = join(SUITE, 'dist/index.js');
    const args = [cli, ...subject, '--scenario', scenario, '--spec-version', REVISION, '-o', output];
    const failure = await run(node, args);
    const [folder] = await readdir(output);
    if (folder === undefined) return verdict(scenario, [], failure ?? 'The suite left no result.');
    const checks = JSON.parse(await readFile(join(output, folder, 'checks.json'), 'utf8')) as Check[];
    return verdict(scenario, checks, failure);
  } finally {
    await rm(output, { recursive: true });
  }
}

/** Runs the suite's process. Resolves with the reason of a failure, if it fails. */
async function run(node: string, args: readonly string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)(node, args, { cwd: HERE, timeout: PATIENCE_MS, killSignal: 'SIGKILL' });
    return undefined;
  } catch (error) {
    const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
    if (killed) return `The suite was ended after ${PATIENCE_MS / 1000} s.`;
    return `The suite ended with ${String(code)}. ${stderr?.trim().split('\n').at(-1) ?? ''}`.trim();
  }
}

function verdict(scenario: string, checks: readonly Check[], failure: string | undefined): Verdict {
  const unmet = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
  const reasons = unmet.map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? ''}`);
  const successes = checks.length - unmet.length;
  if (failure !== undefined && reasons.length === 0) reasons.push(failure);
  if (successes === 0 && reasons.length === 0) reasons.push('Nothing was checked.');
  return { scenario, passed: reasons.length === 0, checks: successes, reasons };
}
