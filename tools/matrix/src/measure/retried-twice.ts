/** Measures one logical call when each of its retries is delivered twice, as a network may do. */
import { isDeepStrictEqual } from 'node:util';
import { callSubjectByHand, type SubjectCall } from '@mrtr/comparison/calls';
import { requestStatePolicy } from '@mrtr/core';
import { host, type RoundResult, type User } from '@mrtr/harness';
import { tally } from '@mrtr/harness/transcript';

/** The policy's single use: on by default, or off. */
export type SingleUse = 'by default' | 'off';

export interface RetriedTwice {
  readonly writes: number;
  readonly sameAnswer: boolean;
}

/** Makes the call of `request` in memory. Delivers each retry twice, and gives the client the second answer. */
export async function retryTwice(request: SubjectCall, singleUse: SingleUse): Promise<RetriedTwice> {
  const conversation = await callSubjectByHand(request, ({ request: { subject, legacy }, world, key }) => {
    const off = singleUse === 'off' && { singleUse: false as const };
    const policy = requestStatePolicy({ keys: [key], legacy, ...off });
    return host('memory', () => subject.create({ world, policy }));
  });
  let round = conversation.first;
  let sameAnswer = true;
  while (!round.end) {
    const answered = await round.answer(request.user as User);
    round = await round.again();
    sameAnswer &&= isDeepStrictEqual(answerOf(answered), answerOf(round));
  }
  const transcript = await conversation.close();
  return { writes: tally(transcript).effects.write ?? 0, sameAnswer };
}

const answerOf = ({ questions, end }: RoundResult) => ({ questions, end });
