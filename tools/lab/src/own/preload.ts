/**
 * Runs first in every Node process of a server under the lab: traces the lines of its author's files, and gives them to
 * the lab when it asks. It is bundled to plain JavaScript, as the server's Node may know no TypeScript.
 */
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { LineTrace } from '@mrtr/harness';
import { type Given, MAX_FILES, MAX_TRACED, TRACE } from './trace.ts';

/** A wrapper, which starts the server as a process of its own. */
const WRAPPER = /\/(?:npx|npm|pnpm|yarn|corepack)(?:-cli)?(?:\.[cm]?js)?$/;

const given = process.env[TRACE];
if (given !== undefined && isMainThread && !WRAPPER.test(process.argv[1] ?? ''))
  start(JSON.parse(given) as Given);

function start({ port, token, source, root }: Given) {
  const loaded = new Set<string>();
  let traced = 0;
  let answers = false;
  const trace = new LineTrace((url) => {
    const path = pathOf(url);
    const name = path === undefined ? undefined : relative(root, path);
    if (path === undefined || name === undefined) return undefined;
    const isProjects =
      !name.startsWith('..') && !isAbsolute(name) && !/(?:^|[\\/])node_modules[\\/]/.test(name);
    if (path !== source && !isProjects) return undefined;
    if (loaded.size < MAX_FILES) loaded.add(name);
    // Connect only now: most processes of a wrapper load no file of the author's.
    if (!answers) answerOn(port, token, () => ({ lines: trace.take(), loaded: [...loaded] }));
    answers = true;
    if (source !== undefined) return path === source ? name : undefined;
    traced += sizeOf(path);
    return traced > MAX_TRACED ? undefined : name;
  });
}

/** The size of a file; 0 for one that a source map names and that is gone. */
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function pathOf(url: string) {
  if (!url.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(url.replace(/[?#].*/, ''));
  } catch {
    return undefined;
  }
}

/** Answers each line of the lab with a line of JSON. Keeps no process running. */
function answerOn(port: number, token: string, answer: () => object) {
  const socket = connect(port, '127.0.0.1').unref();
  socket.setEncoding('utf8').on('error', () => {});
  socket.on('data', (asked) => {
    for (let left = `${asked}`.split('\n').length - 1; left > 0; left--)
      socket.write(`${JSON.stringify(answer())}\n`);
  });
  socket.write(`${token}\n`);
}
