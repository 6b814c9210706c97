/** Information that state gives away in rejections and content, and the cost of its size. */
import { abstain, advise, cite, defineCheck, pass } from '../../judging/check.ts';
import type { CheckContext, Rejected } from '../../judging/context.ts';
import { inWorker } from '../../sandbox.ts';
import { Likeness } from '../../session/likeness.ts';
import { requireAnswer, type SessionOptions } from '../../session/session.ts';
import { shorten } from '../../wire/json.ts';
import { comparable } from '../../wire/outcome.ts';

interface Rejectable {
  readonly label: string;
  readonly options?: SessionOptions;
  /** Default: the state as it was sent, in another call. */
  readonly alter?: (state: string) => Promise<string | undefined>;
}

/** Each kind of state that a server has to reject. */
function rejectables({ inputs, otherArguments, otherOperation }: CheckContext) {
  const all: Rejectable[] = [
    { label: 'a tampered state', alter: async (state) => (await inWorker('bitFlips', state)).at(-1)?.token },
  ];
  if (otherArguments)
    all.push({ label: 'a state with other arguments', options: { operation: otherOperation } });
  if (inputs.address.otherHeaders)
    all.push({ label: "another principal's state", options: { principal: 'other' } });
  return all;
}

/** Compares a rejection with that of malformed state in the same request: it may name the arguments of the call. */
async function compareWithMalformed(context: CheckContext, rejected: Rejected, options: SessionOptions = {}) {
  const round = context.lastRoundWithState;
  const plain = new Likeness();
  let { outcome } = rejected;
  for (let time = 0; time < 2; time++) {
    const session = context.move(await context.untilRound(round), options ?? {});
    outcome = await session.retry({ requestState: 'mrtr-check' });
    requireAnswer(outcome, 'a malformed state');
    plain.add(comparable(outcome));
  }
  if (plain.like(comparable(rejected.outcome)) !== false) return undefined;
  return advise(
    `${rejected.label} came to ${rejected.outcome}, and a malformed state to ${outcome}.`,
    rejected.session,
  );
}

const MAX_BYTES = 2048;
const MAX_GROWTH = 10;

export const DISCLOSURE = [
  /** Compares rejections word by word, also those of other checks, such as state.expired. */
  defineCheck('state.oracle', 'A', {
    expected:
      'Rejections of forged, malformed and foreign state read the same, so that they tell an attacker nothing.',
    clause: cite(
      'basic/patterns/mrtr, server requirements 4',
      'servers … MUST reject state that fails verification',
    ),
    remedy:
      'Answer every state that does not verify with the same error, and write the reason to the log. In TypeScript: the ' +
      'boundary of @mrtr/core does.',
    needs: ['state'],
    calls: (rounds) => 12 * (rounds + 1),
    run: async (context) => {
      const round = context.lastRoundWithState;
      const all: { rejected: Rejected; options?: SessionOptions | undefined }[] = [];
      for (const { label, options, alter } of rejectables(context)) {
        const session = context.move(await context.untilRound(round), options ?? {});
        const changes = alter && { requestState: await alter(session.state ?? '') };
        const outcome = await session.retry(changes);
        requireAnswer(outcome, label);
        if (outcome.kind !== 'completed' || (await context.likeNonsense(round, outcome, options)))
          all.push({ rejected: { label, session, outcome }, options });
      }
      all.push(...context.rejections.map((rejected) => ({ rejected })));
      for (const { rejected, options } of all) {
        const told = await compareWithMalformed(context, rejected, options);
        if (told) return told;
      }
      if (all.length === 0) return abstain('nothing was rejected, so there are no rejections to compare');
      return pass(`${all.length + 1} kinds of rejection read the same`);
    },
  }),
  defineCheck('state.readable', 'A', {
    expected: 'A client can read nothing in the state.',
    clause: cite(
      'basic/patterns/mrtr, inputRequiredResult',
      'requestState: An opaque string meaningful only to the server.',
    ),
    remedy:
      'Where the state holds anything that the client may not know, encrypt it (AEAD) and do not only sign it. In ' +
      'TypeScript: @mrtr/core seals with AES-256-GCM.',
    needs: ['state'],
    run: async (context) => {
      for (const round of context.roundsWithState) {
        const session = await context.untilRound(round);
        const parts = await inWorker('readableParts', session.state ?? '');
        const told = parts.filter((part) => part.length >= 3).join('  ');
        if (/\{|\[|\s/.test(told))
          return advise(`A client can read in the state: ${shorten(told, 300)}`, session);
        if (told !== '' && told === session.state)
          return advise(`The state is plain text: ${shorten(told, 300)}`, session);
      }
      return pass('nothing readable was found in it');
    },
  }),
  /** Every byte travels twice in each round, and the client keeps it while its user thinks. */
  defineCheck('state.size', 'A', {
    expected: 'The state stays under 2 KiB, and a round adds at most ten times the size of its answers.',
    clause: cite(
      'basic/patterns/mrtr, client requirements 2',
      'the client MUST echo back the exact value of that field',
    ),
    remedy: 'Keep in the state only data that the server cannot look up, or a handle to stored data.',
    needs: ['state'],
    run: async (context) => {
      const session = await context.untilRound(0);
      let before = 0;
      let most = 0;
      for (let round = 0; session.last?.kind === 'asked'; round++) {
        const bytes = Buffer.byteLength(session.state ?? '');
        most = Math.max(most, bytes);
        if (bytes > MAX_BYTES) return advise(`The state of round ${round + 1} has ${bytes} bytes.`, session);
        const answered = Buffer.byteLength(JSON.stringify(session.answers()));
        if (round > 0 && bytes - before > MAX_GROWTH * answered)
          return advise(
            `Round ${round + 1} adds ${bytes - before} bytes to the state for ${answered} bytes of answers.`,
            session,
          );
        before = bytes;
        await session.retry();
      }
      return pass(`at most ${most} bytes`);
    },
  }),
];
