/** Generated conversations: delivered twice, lost, killed, deployed, refused, over many rounds. */
import type { Happening, Transcript, WireMessage } from '@mrtr/harness/transcript';
import fc from 'fast-check';

const FILE = 'author.ts';

const instance = fc.constantFrom('i1', 'i2');
const entry = fc.record({
  part: fc.constantFrom('handler', 'step', 'end', 'resolver', 'body'),
  lines: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
  turns: fc.integer({ min: 1, max: 3 }),
  effect: fc.constantFrom(undefined, 'audit', 'write'),
  isAgain: fc.boolean(),
  // Whether the second instance reports its lines late, when asked for them.
  isLate: fc.boolean(),
});
const service = fc.record({
  entries: fc.array(entry, { maxLength: 3 }),
  outcome: fc.constantFrom('asks', 'asks', 'asks live', 'done', 'fails', 'refused', 'falls silent'),
  framesHeld: fc.integer({ min: 0, max: 2 }),
});
const round = fc.record({
  to: instance,
  fate: fc.constantFrom('once', 'once', 'twice', 'lost', 'its answer is lost', 'altered'),
  other: instance,
  first: service,
  second: service,
  between: fc.constantFrom('nothing', 'nothing', 'visit', 'kill', 'restart', 'deploy', 'guard', 'roots'),
  action: fc.constantFrom('accept', 'accept', 'decline', 'cancel'),
});
type Service = typeof service extends fc.Arbitrary<infer One> ? One : never;
type Round = typeof round extends fc.Arbitrary<infer One> ? One : never;

/** The events of a round in which everybody says `text`. */
function* playRound(id: number, text: string, played: Round): Generator<Happening> {
  const { to, fate, other, first, second, between, action } = played;
  const message = { id, method: 'tools/call', params: { name: text, arguments: { [text]: text } } };
  const sent = { kind: 'message', from: 'client', message } as const;
  if (fate === 'lost') {
    yield { ...sent, lost: true };
    return;
  }
  if (fate === 'altered') yield { ...sent, lost: true, replaced: true };
  yield { ...sent, to, ...(fate === 'altered' && { altered: true }) };
  yield* serve(to, id, text, first, fate === 'twice' || fate === 'its answer is lost', action);
  if (fate === 'twice') {
    yield { ...sent, to: other, again: true };
    yield* serve(other, id, text, second, false, action);
  }
  if (between === 'visit')
    yield { kind: 'visit', from: 'person', url: `https://a.example/${text}`, status: 200 };
  if (between === 'kill' || between === 'restart') yield { kind: between, instance: to };
  if (between === 'deploy') yield { kind: 'restart', instance: to, deployed: text };
  if (between === 'guard') yield { kind: 'guard', instance: to, key: text, phase: 'skipped' };
  if (between === 'roots') yield { kind: 'roots', roots: [{ uri: text }], framesHeld: 0 };
}

function* serve(
  from: string,
  id: number,
  text: string,
  { entries, outcome, framesHeld }: Service,
  isLost: boolean,
  action: Round['action'],
): Generator<Happening> {
  const isRefused = outcome === 'refused';
  if (isRefused) yield { kind: 'state', instance: from, phase: 'rejected', bytes: 9, reason: text };
  const late: Happening[] = [];
  for (const { part, lines, turns, effect, isAgain, isLate } of isRefused ? [] : entries) {
    yield { kind: 'entry', instance: from, part, name: text };
    const files = { [FILE]: Object.fromEntries(lines.map((line) => [line, turns])) };
    const order = lines.map((line) => [FILE, line] as const);
    const ran: Happening = { kind: 'lines', instance: from, files, order };
    if (lines.length > 0 && isLate) late.push(ran);
    else if (lines.length > 0) yield ran;
    if (effect)
      yield { kind: 'effect', instance: from, name: effect, detail: text, ...(isAgain && { again: true }) };
  }
  const ask = `q${id}${isLost ? ' lost' : ''}`;
  const question = { method: 'elicitation/create', params: { message: text } };
  const end = { content: [{ type: 'text', text }] };
  const inputRequests = { [text]: question };
  const answers: Readonly<Record<string, WireMessage>> = {
    asks: { id, result: { resultType: 'input_required', inputRequests, requestState: `s${id}` } },
    'asks live': { id: ask, ...question },
    done: { id, result: end },
    fails: { id, result: { ...end, isError: true } },
    refused: { id, error: { code: text, message: text } },
  };
  const message = answers[outcome];
  const answer = { kind: 'message', from, to: 'client' } as const;
  if (message) yield { ...answer, message, ...(isLost && { lost: true }) };
  yield* late;
  if (isLost || !outcome.startsWith('asks')) return;
  const reply = { action, ...(action === 'accept' && { content: { [text]: text } }) };
  yield { kind: 'question', to: 'person', id, message: text, schema: {}, framesHeld };
  yield { kind: 'answer', from: 'person', id, reply };
  if (outcome === 'asks') return;
  yield { kind: 'message', from: 'client', to: from, message: { id: ask, result: reply } };
  yield { ...answer, message: { id, result: end } };
}

export const conversationsWith = (texts: fc.Arbitrary<string>): fc.Arbitrary<Transcript> =>
  fc
    .tuple(
      texts,
      fc.array(round, { minLength: 1, maxLength: 4 }),
      fc.constantFrom({}, { isAgent: true } as const),
      fc.boolean(),
    )
    .map(([text, rounds, agent, fails]) => ({
      format: 'mrtr-transcript',
      version: 1,
      title: text,
      participants: [
        { id: 'person', kind: 'person', label: text, ...agent },
        { id: 'client', kind: 'client', label: text, era: 'modern', name: text },
        { id: 'i1', kind: 'instance', label: text },
        { id: 'i2', kind: 'instance', label: text },
        { id: 'world', kind: 'world', label: text },
      ],
      events: rounds
        .flatMap((one, at) => [...playRound(at + 1, text, one)])
        .map((happening, at) => ({ ...happening, at })),
      end: fails ? { error: { message: text } } : { result: { content: [] } },
    }));
