// Runs the program straight from its TypeScript, with tsx if this Node cannot strip types itself.
// This file is plain JavaScript, so that an old Node can read it too and say what is missing.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`This needs Node.js 20.19 or newer, and this is ${process.version}.`);
}
try {
  if (!process.features.typescript) {
    const { register } = await import('tsx/esm/api');
    register();
  }
  await import('./src/program.ts');
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
