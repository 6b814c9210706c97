/** What the bare server is told, and what its instances share: the lines that were written, and the used approvals. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export const { values: options } = parseArgs({
  options: {
    world: { type: 'string' },
    http: { type: 'string' },
    fault: { type: 'string', default: '' },
    key: { type: 'string', default: 'a key that all instances share' },
    ttl: { type: 'string', default: '600' },
    // Of the code, as a deploy replaces it, and what that version changed of its questions: reworded, narrowed.
    version: { type: 'string', default: '1' },
    change: { type: 'string' },
    // What a fault of a deploy comes to. Effects: two, one beside a refusal, one beside the question again, or none
    // (result, refusal, question, nothing). Accidents: an error, HTTP 500, words of the language, or the end (result,
    // status, leak, process).
    breaks: { type: 'string', default: 'result' },
    // Serves old clients over stdio, by requests: as it should, or with a fault (right, words, end, hang, wordless).
    shim: { type: 'string' },
    // Writes logs to standard output, over stdio.
    chatty: { type: 'boolean', default: false },
    // Gives all calls up at a bad state.
    burns: { type: 'boolean', default: false },
    // Fails every call after so many, for checks that could not decide.
    'calls-until-broken': { type: 'string', default: 'Infinity' },
  },
});

export const faulty = (id) => options.fault === id;
export const world = options.world;
mkdirSync(join(world, 'used'), { recursive: true });
const LINES = join(world, 'lines');
export const now = () => performance.timeOrigin + performance.now();
const usedHere = new Map();

export const write = (line) => appendFileSync(LINES, `${line}\n`);
export const countLines = () => (existsSync(LINES) ? readFileSync(LINES, 'utf8').split('\n').length - 1 : 0);

/** Claims an approval. Returns what it was claimed for before: a result, or `taken` while there is none. */
export function claim(id) {
  if (faulty('instance.replay-elsewhere')) {
    const known = usedHere.get(id);
    usedHere.set(id, known ?? 'taken');
    return known;
  }
  try {
    writeFileSync(join(world, 'used', id), '', { flag: 'wx' });
    return undefined;
  } catch {
    return peek(id);
  }
}

export function remember(id, record) {
  if (faulty('instance.replay-elsewhere')) usedHere.set(id, record);
  else writeFileSync(join(world, 'used', id), JSON.stringify(record));
}

export const peek = (id) => {
  if (faulty('instance.replay-elsewhere')) return usedHere.get(id);
  const file = join(world, 'used', id);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return text === '' ? 'taken' : JSON.parse(text);
};
