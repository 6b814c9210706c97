/** Runs the browser suites. They are outside the workspace, with the page's tools, and run on Node's test runner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Writer } from '@mrtr/harness/internal';
import { builtPage, installTools } from './page.ts';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Resolves with the exit code. `write` replaces the pictures of the documents. */
export async function testInBrowser(write: boolean) {
  builtPage((text) => new Writer(process.stdout).write(`${text}\n`));
  installTools();
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const suites = ['lab', 'own', 'served', 'report', 'approve', 'passkeys'].map((name) =>
    path(`../page/tests/${name}.browser.ts`),
  );
  const args = ['--import', tsx, '--test', '--test-concurrency=2', '--test-reporter=spec', ...suites];
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, ...(write && { MRTR_LAB_PICTURES: path('../../../docs/pictures') }) },
  });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}
