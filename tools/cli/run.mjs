// Runs the program straight from its TypeScript, with tsx if this Node cannot strip types itself.
// This file is plain JavaScript, so that an old Node can read it too and say what is missing.
import { inspect } from 'node:util';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`This needs Node.js 20.19 or newer, and this is ${process.version}.`);
}
try {
  if (!process.features.typescript) {
    const { register } = await import('tsx/esm/api');
    register();
  }
  const [{ main }, { terminalOf }] = await Promise.all([
    import('./src/main.ts'),
    import('./src/terminal.ts'),
  ]);
  const terminal = terminalOf(process);
  // Node would print a server's text in it raw.
  process.on('uncaughtException', (error) => {
    terminal.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  });
  // A reader may stop early, as `head` does; that is not a failure.
  process.stdout.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  const args = process.argv.slice(2);
  process.exitCode = await main(args, terminal);
  // A served tool may still wait for something, which would keep the process alive.
  if (args[0] === 'serve') process.exit();
} catch (error) {
  // A package is missing, not one of our files: nothing is installed, or another version of pnpm installed it.
  const [, missing] = /^Cannot find package '([^']+)'/.exec(error?.message ?? '') ?? [];
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || missing === undefined) throw error;
  const [, pnpm] = /^pnpm\/(\S+)/.exec(process.env.npm_config_user_agent ?? '') ?? [];
  const other =
    pnpm && !pnpm.startsWith('12.') ? ` This is pnpm ${pnpm}, and the workspace needs pnpm 12.` : '';
  fail(`The dependencies are not installed: '${missing}' is missing.${other} Run: npx -y pnpm@12 install`);
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
