/**
 * Checks servers that block, flood or mislead their client. The program runs as its own process, and ends by itself, in
 * bounded memory, with a report and the exit code of the report.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CHECKS, type Report } from '@mrtr/check';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { inWorld } from './bare.test-support.ts';

const CHECK = fileURLToPath(new URL('../../packages/check/', import.meta.url));
const BUILT = join(CHECK, 'node_modules/.cache/hostile');

// Build once, because each process and its worker would translate the sources again.
beforeAll(async () => {
  const { dependencies } = JSON.parse(readFileSync(join(CHECK, 'package.json'), 'utf8'));
  await build({
    entryPoints: ['main', 'worker'].map((name) => join(CHECK, `src/${name}.ts`)),
    ...{ bundle: true, outdir: BUILT, platform: 'node', target: 'node20', format: 'esm' },
    external: Object.keys(dependencies).filter((name) => !name.startsWith('@mrtr/')),
  });
});

const HOSTILE = fileURLToPath(new URL('./servers/hostile.mjs', import.meta.url));
const MAX_KILOBYTES = 512 * 1024;
/** The longest run. It is many times the limit that the program gets. */
const HELD_MS = 100_000;
const SECONDS = 6;
/** A longer limit, for findings that a busy machine does not reach in time. */
const PATIENT = ['--max-time', '60'];

const MEASURE =
  'data:text/javascript,process.on("exit",()=>process.stderr.write("KB "+process.resourceUsage().maxRSS))';
const FORMATS = ['json', 'html', 'markdown', 'junit'] as const;

interface CheckResult {
  readonly code: number;
  readonly out: string;
  readonly kilobytes: number;
  readonly texts: Readonly<Record<(typeof FORMATS)[number], string>>;
  readonly report: Report;
}

function check(hostility: string, transport: string, ...words: readonly string[]): Promise<CheckResult> {
  return inWorld(async (world) => {
    const file = (format: string) => join(world, `report.${format}`);
    const args = [
      // Without a limit, V8 lets garbage grow with the memory of the machine.
      ...[
        '--max-old-space-size=320',
        '--import',
        MEASURE,
        join(BUILT, 'main.js'),
        '--tool',
        'act',
        '--arguments',
        '{"a":"b"}',
      ],
      ...['--generate-answers', '--timeout', '5', '--max-time', String(SECONDS), ...words],
      ...FORMATS.flatMap((format) => ['--report', `${format}=${file(format)}`]),
      ...['--report', 'terminal', '--', process.execPath, HOSTILE, hostility],
      ...(transport === 'http' ? ['{port}'] : []),
    ];
    const ending = { timeout: HELD_MS, killSignal: 'SIGKILL' } as const;
    const ended = await promisify(execFile)(process.execPath, args, ending).then(
      (one) => ({ ...one, code: 0 }),
      (error) => error as { code: number; stdout: string; stderr: string },
    );
    const texts = await Promise.all(FORMATS.map((format) => readFile(file(format), 'utf8')));
    return {
      code: ended.code,
      out: ended.stdout,
      kilobytes: Number(/KB (\d+)$/.exec(ended.stderr)?.[1]),
      texts: Object.fromEntries(FORMATS.map((format, at) => [format, texts[at]])) as CheckResult['texts'],
      report: JSON.parse(texts[0] as string),
    };
  });
}

const FORMS = ['any-of', 'unique-items', 'arrays', 'async', 'pattern', 'cycle', 'remote', 'deep', 'fields'];
const ANSWERS = ['segments', 'leaves', 'long', 'questions', 'forks', 'pages', 'wide', 'versions'];
const ANYWHERE = ['large', 'events', 'endless', 'line', 'slow', 'stderr'];
const OVER_HTTP = ['redirect', 'gzip', 'headers'];
const HOSTILITIES = [
  ...[...FORMS, ...ANSWERS, ...ANYWHERE].map((name) => [name, 'stdio'] as const),
  ...[...ANYWHERE, ...OVER_HTTP].map((name) => [name, 'http'] as const),
];

test.concurrent.each(HOSTILITIES)('%s over %s is survived, and reported', async (hostility, transport) => {
  const isTooLong = ['versions', 'endless', 'line', 'gzip'].includes(hostility);
  const patience = isTooLong ? PATIENT : [];
  const { code, out, kilobytes, report } = await check(hostility, transport, ...patience);
  const has = (verdict: string) => report.checks.some((one) => one.verdict === verdict);
  expect(report.checks).toHaveLength(CHECKS.length);
  expect(code).toBe(has('fail') ? 1 : has('could-not-run') ? 3 : 0);
  expect(out).toContain(`exit ${code}:`);
  if (hostility === 'large')
    expect(out).toMatch(/are together\s+larger\s+than\s+128\s+MiB|reached its limit/);
  if (isTooLong)
    expect(report.checks[0]?.actual).toMatch(/the answer is longer than 4 MiB|a line of it was longer/);
  expect(report.checks.filter(({ actual }) => actual.includes('defect of mrtr-check'))).toEqual([]);
  expect(kilobytes).toBeGreaterThan(0);
  expect(kilobytes).toBeLessThan(MAX_KILOBYTES);
});

test('words that a terminal, a CI job, a browser or Markdown would obey reach none of them', async () => {
  const { out, texts, report } = await check('nasty', 'stdio', ...PATIENT);
  const { html, markdown, junit, json } = texts;
  expect(JSON.stringify(report)).toContain('::error file=a::no');
  for (const text of [out, html, markdown, junit, json]) {
    expect(text).toContain('owned');
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}|##vso\[/u);
    expect(text.split('\n').filter((line) => /^\s*::/.test(line))).toEqual([]);
  }
  for (const text of [html, junit]) expect(text).not.toContain('<script>alert');
  expect(markdown.replaceAll(/^(`{3,}).*?^\1$/gms, '')).not.toMatch(/[^\\]!\[|[^\\]<|@all/);
});

test('a probe follows no redirect to another service, and shows nothing of it', async () => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, res) => {
    asked.push(url);
    if (url === '/inside') res.end('the secret of another service');
    else res.writeHead(302, { location: '/inside' }).end('moved');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const probe = ['--probe', `url:http://127.0.0.1:${port}/count`];
    const { code, out } = await check('none', 'stdio', ...probe, ...PATIENT);
    expect(code).toBe(3);
    expect(out).toMatch(/the probe could not be read: HTTP 302, a redirect, which is not\s+followed/);
    expect(out).not.toContain('secret');
    expect(new Set(asked)).toEqual(new Set(['/count']));
  } finally {
    server.close();
  }
});
