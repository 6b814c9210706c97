/** The recipe for fastify, which is installed here and not with everything else: it has 48 packages. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished, test } from 'vitest';
import { asksBoth } from './recipes.test-support.ts';

const FOLDER = fileURLToPath(new URL('../../demos/recipes/fastify', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the part of fastify that is used here looks like from outside of its folder. */
interface Application {
  listen(options: { readonly port: number; readonly host: string }): Promise<string>;
  close(): Promise<void>;
}

test('fastify asks clients of both eras, beside other routes', { timeout: 120_000 }, async () => {
  run(FOLDER, 'pnpm', 'install', '--frozen-lockfile', '--prefer-offline', '--loglevel=error');
  run(ROOT, 'pnpm', 'exec', 'tsc', '-p', FOLDER);
  const { app } = (await import(`${FOLDER}/on-fastify.ts`)) as { readonly app: Application };
  onTestFinished(() => app.close());
  await asksBoth(new URL('/mcp', await app.listen({ port: 0, host: '127.0.0.1' })));
});

function run(cwd: string, command: string, ...args: readonly string[]): void {
  const shell = process.platform === 'win32';
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, shell, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`);
}
