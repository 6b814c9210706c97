import type { InputRequest } from '@modelcontextprotocol/server';
import { type Answer, elicitation } from '@mrtr/core';
import { isFinal } from '@mrtr/core/shape';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accept, cancel, decline, Name, requestOf } from '../fixture.test-support.ts';
import { Recall } from './recall.ts';

const KEYS = ['name', 'other', '__proto__', 'constructor'] as const;
const WORDINGS = [elicitation('Which name?', Name), elicitation('Which name, please?', Name)] as const;

type Key = (typeof KEYS)[number];
type Wording = 0 | 1;
type Entry<T> = readonly [key: Key, value: T];

interface Round {
  /** The answers that the client sends, asked or not. */
  readonly responses: readonly Entry<unknown>[];
  /** The questions that the author reads. */
  readonly reads: readonly Entry<Wording>[];
  /** The questions that the author asks at the end. */
  readonly asks: readonly Entry<Wording>[];
}

const entries = <T>(value: fc.Arbitrary<T>) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { selector: ([key]) => key });
const response = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.integer({ min: 0, max: 999 }).map((n) => accept({ name: `name ${n}`, admin: true })),
  },
  fc.constantFrom(accept({ name: '' }), accept({}), { action: 'accept' }, decline, cancel),
  fc.constantFrom<unknown>(null, 42, 'text', [], {}, { action: 'shrug' }, { roots: [] }),
);
const wording = fc.constantFrom<Wording>(0, 1);
const rounds: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    responses: entries(response),
    reads: fc.array(fc.tuple(fc.constantFrom(...KEYS), wording)),
    asks: entries(wording),
  }),
  { minLength: 1, maxLength: 8 },
);

/** Plays the rounds through real state, and calls `onRound` in each, when its answers can be read. */
function play(all: readonly Round[], onRound: (recall: Recall, at: number) => void): void {
  let state: string | undefined;
  let asked = new Map<string, string>();
  for (const [at, { responses, reads, asks }] of all.entries()) {
    const inputResponses = Object.fromEntries(responses);
    const { ctx } = requestOf({ asked }, { inputResponses, requestState: () => state });
    const recall = new Recall(ctx, 'test/1');
    onRound(recall, at);
    for (const [key, worded] of reads) recall.read(key, WORDINGS[worded]);
    const requests = Object.fromEntries<InputRequest>(
      asks.map(([key, worded]) => [key, WORDINGS[worded].request]),
    );
    state = recall.stateFor(requests);
    asked = new Map(asks.map(([key, worded]) => [key, WORDINGS[worded].digest]));
  }
}

function* readAll(recall: Recall): Generator<[Key, Wording, Answer<{ name: string }>]> {
  for (const key of KEYS)
    for (const worded of [0, 1] as const) yield [key, worded, recall.read(key, WORDINGS[worded])];
}

test('an answer is never one to a question that was not asked in the round before it came', () => {
  fc.assert(
    fc.property(rounds, (all) => {
      play(all, (recall, now) => {
        // Only at the end, so that most answers stay unread for a while.
        if (now < all.length - 1) return;
        for (const [key, worded, answer] of readAll(recall)) {
          if (!isFinal(answer)) continue;
          const cameIn = all.findLastIndex(
            ({ responses }, at) =>
              at > 0 && at <= now && has(responses, key) && has(all[at - 1]?.asks ?? [], key),
          );
          expect(cameIn).toBeGreaterThan(0);
          expect(get(all[cameIn - 1]?.asks ?? [], key)).toBe(worded);
          const askedSince = all.slice(cameIn, now).filter(({ asks }) => get(asks, key) === worded);
          expect(askedSince).toEqual([]);
          const { action, content } = get(all[cameIn]?.responses ?? [], key) as ReturnType<typeof accept>;
          expect(answer).toEqual(
            action === 'accept'
              ? { kind: 'accepted', value: { name: content?.name } }
              : { kind: action === 'decline' ? 'declined' : 'cancelled' },
          );
        }
      });
    }),
  );
});

test('a usable answer is never lost before its question is asked again', () => {
  fc.assert(
    fc.property(rounds, (all) => {
      const settled = new Map<string, Answer<{ name: string }>>();
      play(all, (recall, now) => {
        for (const [key] of all[now - 1]?.asks ?? [])
          for (const worded of [0, 1]) settled.delete(key + worded);
        for (const [key, worded, answer] of readAll(recall)) {
          const known = settled.get(key + worded);
          if (known) expect(answer).toEqual(known);
          if (isFinal(answer)) settled.set(key + worded, answer);
        }
      });
    }),
  );
});

test('where the policy accepts unasked answers, such an answer counts in its round and later', () => {
  const request = (inputResponses: object, state?: string) =>
    requestOf({ asked: undefined }, { inputResponses, requestState: () => state }).ctx;
  const first = new Recall(request({ name: accept({ name: 'Ada' }) }), 'test/1');
  const [question] = WORDINGS;
  const accepted = { kind: 'accepted', value: { name: 'Ada' } };
  expect(first.read('name', question)).toEqual(accepted);
  expect(new Recall(request({}, first.stateFor({})), 'test/1').read('name', question)).toEqual(accepted);
  expect(new Recall(request({}), 'test/1').read('name', question)).toEqual({ kind: 'missing' });
});

const has = (list: readonly Entry<unknown>[], key: Key) => list.some(([other]) => other === key);
const get = (list: readonly Entry<unknown>[], key: Key) => list.find(([other]) => other === key)?.[1];
