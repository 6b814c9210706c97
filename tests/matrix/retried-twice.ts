/** What one logical call leaves behind when each of its retries is delivered twice, as a network may. */
import { requestStatePolicy } from '@mrtr/core';
import type { Conversation, ConversationRequest } from '@mrtr/harness';
import { type Hosting, host } from '@mrtr/harness';
import { converse, type Deploy } from './converse.ts';

/** Whether the policy makes state single-use, and answers a second presentation with the first one's result. */
export type Presentations = 'unlimited' | 'single use';

/** What was measured. */
export interface RetriedTwice {
  /** Work items written. */
  readonly writes: number;
  /** Whether both deliveries of every retry were answered alike. */
  readonly sameAnswer: boolean;
}

/** Makes the call of `request` in memory, with each retry delivered twice; the client gets the second answer. */
export async function retryTwice(
  request: ConversationRequest,
  presentations: Presentations,
): Promise<RetriedTwice> {
  let sameAnswer = true;
  const deploy: Deploy = ({ request: { subject, legacy }, world, key, recorder }) => {
    const single = presentations === 'single use' ? ({ singleUse: 'replay' } as const) : {};
    const state = requestStatePolicy({ keys: [key], legacy, ...single });
    const onEntry = () => recorder.handlerEntered();
    return delivering(
      host('memory', () => subject.create({ world, state, onEntry })),
      (answers) => {
        sameAnswer &&= answers[0] === answers[1];
      },
    );
  };
  const { transcript }: Conversation = await converse({ ...request, hosting: 'memory' }, deploy);
  return { writes: transcript.filter(({ kind }) => kind === 'write').length, sameAnswer };
}

/** The same hosting, with every request that answers a question delivered a second time. */
function delivering(hosting: Hosting, onAnswers: (answers: readonly string[]) => void): Hosting {
  return {
    ...hosting,
    endpoint: (era) => {
      const endpoint = hosting.endpoint(era);
      if (endpoint.kind !== 'http' || !endpoint.fetch)
        throw new Error('Retries are delivered twice over HTTP only.');
      const once = endpoint.fetch;
      const fetch: typeof once = async (url, init) => {
        if (!String(init?.body).includes('"inputResponses"')) return once(url, init);
        const answers = [await once(url, init), await once(url, init)] as const;
        onAnswers(await Promise.all(answers.map((answer) => answer.clone().text())));
        return answers[1];
      };
      return { ...endpoint, fetch };
    },
  };
}
