/** Conversations that nobody had: delivered twice, lost, killed, deployed, refused, over many rounds. */
import type { Happening, Transcript, WireMessage } from '@mrtr/harness/transcript';
import fc from 'fast-check';

const FILE = 'author.ts';

const instance = fc.constantFrom('i1', 'i2');
const part = fc.constantFrom('handler', 'step', 'end', 'resolver', 'body');
const entry = fc.record({
  part,
  lines: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
  turns: fc.integer({ min: 1, max: 3 }),
  effect: fc.constantFrom(undefined, 'audit', 'write'),
  // The second instance tells the lines that ran when it is asked for them: late.
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
  between: fc.constantFrom('nothing', 'nothing', 'visit', 'kill', 'restart', 'deploy'),
});
type Service = typeof service extends fc.Arbitrary<infer One> ? One : never;
type Round = typeof round extends fc.Arbitrary<infer One> ? One : never;

class Play {
  readonly happenings: Happening[] = [];
  #id = 0;
  #questions = 0;

  round({ to, fate, other, first, second, between }: Round): void {
    const id = ++this.#id;
    const message = { id, method: 'tools/call', params: { name: 'tool', arguments: {} } };
    const sent = { kind: 'message', from: 'client', message } as const;
    if (fate === 'lost') return void this.happenings.push({ ...sent, lost: true });
    if (fate === 'altered') this.happenings.push({ ...sent, lost: true, replaced: true });
    this.happenings.push({ ...sent, to, ...(fate === 'altered' && { altered: true }) });
    const losesAnswer = fate === 'twice' || fate === 'its answer is lost';
    this.#serve(to, id, first, losesAnswer);
    if (fate === 'twice') {
      this.happenings.push({ ...sent, to: other, again: true });
      this.#serve(other, id, second, false);
    }
    if (between === 'visit')
      this.happenings.push({ kind: 'visit', from: 'person', url: 'https://a.example/', status: 200 });
    if (between === 'kill') this.happenings.push({ kind: 'kill', instance: to });
    if (between === 'restart') this.happenings.push({ kind: 'restart', instance: to });
    if (between === 'deploy') this.happenings.push({ kind: 'restart', instance: to, deployed: 'reworded' });
  }

  #serve(from: string, id: number, { entries, outcome, framesHeld }: Service, isLost: boolean): void {
    const answer = (message: WireMessage) =>
      this.happenings.push({ kind: 'message', from, to: 'client', message, ...(isLost && { lost: true }) });
    if (outcome === 'refused') {
      this.happenings.push({
        kind: 'state',
        instance: from,
        phase: 'rejected',
        bytes: 9,
        reason: 'tampered',
      });
      return void answer({ id, error: { code: -32602, message: 'Invalid' } });
    }
    const ask = `q${this.happenings.length}`;
    const late: Happening[] = [];
    for (const { part, lines, turns, effect, isLate } of entries) {
      this.happenings.push({ kind: 'entry', instance: from, part, name: 'named' });
      const ran = Object.fromEntries(lines.map((line) => [line, turns]));
      const order = lines.map((line) => [FILE, line] as const);
      if (lines.length > 0)
        (isLate ? late : this.happenings).push({
          kind: 'lines',
          instance: from,
          files: { [FILE]: ran },
          order,
        });
      if (effect) this.happenings.push({ kind: 'effect', instance: from, name: effect, detail: 'x' });
    }
    const end = { content: [{ type: 'text', text: 'Done.' }] };
    if (outcome === 'done') answer({ id, result: end });
    if (outcome === 'fails') answer({ id, result: { ...end, isError: true } });
    if (outcome === 'asks')
      answer({ id, result: { resultType: 'input_required', inputRequests: {}, requestState: `s${id}` } });
    if (outcome === 'asks live')
      answer({ id: ask, method: 'elicitation/create', params: { message: 'Sure?' } });
    this.happenings.push(...late);
    if (isLost || !outcome.startsWith('asks')) return;
    this.#ask(framesHeld);
    if (outcome === 'asks') return;
    const message = { id: ask, result: { action: 'accept' } };
    this.happenings.push({ kind: 'message', from: 'client', to: from, message });
    answer({ id, result: end });
  }

  #ask(framesHeld: number): void {
    const id = ++this.#questions;
    this.happenings.push(
      { kind: 'question', to: 'person', id, message: 'Sure?', schema: {}, framesHeld },
      { kind: 'answer', from: 'person', id, reply: { action: 'accept', content: { sure: true } } },
    );
  }
}

const PARTICIPANTS: Transcript['participants'] = [
  { id: 'person', kind: 'person', label: 'user' },
  { id: 'client', kind: 'client', label: 'modern client', era: 'modern', name: 'client' },
  { id: 'i1', kind: 'instance', label: 'server 1' },
  { id: 'i2', kind: 'instance', label: 'server 2' },
  { id: 'world', kind: 'world', label: 'world' },
];

const AGENT = { id: 'person', kind: 'person', label: 'agent', isAgent: true } as const;

export const generatedConversation: fc.Arbitrary<Transcript> = fc
  .tuple(fc.array(round, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([rounds, isAgent]) => {
    const play = new Play();
    for (const one of rounds) play.round(one);
    const events = play.happenings.map((happening, at) => ({ ...happening, at }));
    const end = { result: { content: [] } };
    return {
      format: 'mrtr-transcript',
      version: 1,
      title: 'generated',
      participants: isAgent ? [AGENT, ...PARTICIPANTS.slice(1)] : PARTICIPANTS,
      events,
      end,
    };
  });
