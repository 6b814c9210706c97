/** The options of the bare server, and the data that its instances share: written lines and used approvals. */
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
    // The version of the code, and its change to the questions: reworded, narrowed.
    version: { type: 'string', default: '1' },
    change: { type: 'string' },
    // The result of a deploy's fault. Effects: two, one with a refusal, one with a repeated question, or none (result,
    // refusal, question, nothing). Accidents: an error, HTTP 500, a stack trace, or a crash (result, status, leak,
    // process).
    breaks: { type: 'string', default: 'result' },
    // Serves old clients over stdio by requests, correctly or with a fault (right, words, end, hang, wordless).
    shim: { type: 'string' },
    // Writes logs to standard output, over stdio.
    chatty: { type: 'boolean', default: false },
    // Ends all calls at a bad state.
    burns: { type: 'boolean', default: false },
    // Fails every request after this number, to leave checks undecided.
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

/** Claims an approval. If it is claimed already, returns its result, or `taken` before there is one. */
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
