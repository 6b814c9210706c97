// The code that all drivers share: `node clients/x.mjs TARGET [VERSION]`, where TARGET is JSON, `{ command, args }` or
// `{ url }`. Each calls get_weather for Tokyo, answers "imperial" if asked, and prints one line: whether its user was
// asked, and the text or the error of the result.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export const CALL = { name: 'get_weather', arguments: { location: 'Tokyo' } };

const [json, version] = process.argv.slice(2);

/** Runs `call` with the target, a function that gives the user's answer, and the version. Ends the process. */
export async function drive(call) {
  let asked = false;
  const answer = async () => {
    asked = true;
    return { action: 'accept', content: { units: 'imperial' } };
  };
  const report = await Promise.resolve(call(JSON.parse(json), answer, version)).then(
    (got) => ({ got: textOf(got) }),
    (error) => ({ error: messageOf(error) }),
  );
  process.stdout.write(`\n${JSON.stringify({ asked, ...report })}\n`, () => process.exit(0));
}

/** Runs a command of a foreign package with this Node. Resolves with its output, even if it fails. */
export async function command(name, args, env = {}) {
  const options = { env: { ...process.env, ...env }, timeout: 45_000 };
  const run = promisify(execFile)(process.execPath, [pathOf(name), ...args], options);
  const { stdout, stderr } = await run.catch((error) => error);
  return `${stdout ?? ''}${stderr ?? ''}`;
}

/** The path of a package's file, even if it is not exported: `mcporter/dist/cli.js`. */
export const pathOf = (name) => `${import.meta.dirname}/../node_modules/${name}`;

const textOf = (got) => {
  if (typeof got === 'string') return got;
  const texts = (got.content ?? got).filter?.(({ type }) => type === 'text').map(({ text }) => text);
  return `${got.isError ? 'isError: ' : ''}${texts ? texts.join(' ') : JSON.stringify(got)}`;
};

const messageOf = (error) =>
  [error?.message ?? String(error), error?.cause?.message].filter(Boolean).join(': ');
