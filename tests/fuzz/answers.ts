/** The property of answers: an answer counts if it fits the schema of its own question and is within the limit. */
import { isDeepStrictEqual } from 'node:util';
import { elicitation, type Question, readAnswer, type ServerContext } from '@mrtr/core';
import { ownEntry } from '@mrtr/core/kit';
import { Original, Resolution, Units } from '@mrtr/example-tools';
import fc from 'fast-check';
import {
  type Asked,
  areOutsized,
  hostileAnswers,
  passedOn,
  type Verdict,
  verdict,
} from './hostile-answers.ts';
import { policyOf, presented, siteWith } from './sites.ts';
import { onTheWire } from './tokens.ts';

const QUESTIONS: Readonly<Record<Asked, Question>> = {
  units: elicitation('Which units?', Units),
  resolution: elicitation('How was it resolved?', Resolution),
  original: elicitation('Which item is it a duplicate of?', Original),
};

/** How an author reads an answer. A broken twin may be less careful. */
export type Read = (ctx: ServerContext, asked: Asked) => Verdict;

const read: Read = (ctx, asked) => {
  const answer = readAnswer(ctx, asked, QUESTIONS[asked]);
  if (answer.kind === 'accepted') return { accepted: (answer.value as Record<string, unknown>)[asked] };
  return answer.kind === 'missing' || answer.kind === 'invalid' ? 'nothing' : 'refused';
};

const CALL = { method: 'tools/call', target: 'ask' } as const;

const TOO_LARGE = {
  code: -32602,
  message: 'An answer has to be JSON of at most 16384 bytes, nested at most 200 levels deep',
  data: { reason: 'answer_too_large' },
};

/** Arbitrary answers to the questions. */
export function onlyWhatWasAnswered(read_: Read = read) {
  const site = siteWith(policyOf({ keys: ['k'.repeat(32)] }), 'shop');
  return fc.asyncProperty(hostileAnswers, async (answers) => {
    const asked = await site.request(CALL, () => ({
      resultType: 'input_required',
      inputRequests: Object.fromEntries(
        Object.entries(QUESTIONS).map(([key, { request }]) => [key, request]),
      ),
    }));
    const { requestState: state } = asked as { requestState: string };
    const came = await presented(site, { ...CALL, answers, state });
    site.log();
    if (areOutsized(passedOn(answers))) {
      if ('refused' in came && isDeepStrictEqual(onTheWire(came.refused), TOO_LARGE)) return;
      throw new Error('An answer over the limit is accepted.');
    }
    if ('refused' in came) throw new Error(`The request is refused: ${String(came.refused)}`);
    for (const asked of ['units', 'resolution', 'original'] as const) {
      const [is, says] = [read_(came.entered.ctx, asked), verdict(answers, asked)];
      if (!isDeepStrictEqual(is, says)) {
        throw new Error(
          `The answer to '${asked}' reads as ${JSON.stringify(is)}; expected ${JSON.stringify(says)}.`,
        );
      }
    }
    // Even a careless read must not find an inherited answer.
    const { inputResponses = {} } = came.entered.ctx.mcpReq;
    for (const key in inputResponses)
      if (ownEntry(inputResponses, key) === undefined) throw new Error(`'${key}' leaks in.`);
  });
}
