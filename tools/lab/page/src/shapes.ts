/** Each shape in a few words, by its id. */
export const SHAPES: Readonly<Record<string, string>> = {
  a: 'returns its question, and starts again with the answer',
  b: 'seems to wait, and starts again with the answer',
  c: 'like A, with an if for each era of client',
  d: 'one handler for each era of client',
  e: 'like A, with a fallback for a client that cannot be asked',
  'e-naive': 'like E, and it writes before it asks',
  'e-bare': 'like E, and nothing seals its state',
  f: 'like E, and what is wrapped in once runs once',
  g: 'a chain of steps: an answer starts at the next step',
  h: 'really waits, in the memory of one instance',
  'h-postgres': 'really waits; PostgreSQL keeps what it was told',
  i: 'its parameters ask for themselves',
  j: 'starts again, and replays what was answered',
};
