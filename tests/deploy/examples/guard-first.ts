import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  readAnswer,
  readState,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { z } from 'zod';

const Size = z.object({ size: z.enum(['S', 'M', 'L']) });
const Colour = z.object({ colour: z.enum(['red', 'blue']) });
// Version 1 kept only the size. A default lets its calls continue.
const Kept = Size.extend({ region: z.string().default('eu') });

const size = elicitation('Which size?', Size);
const colour = elicitation('Which colour?', Colour);

export async function order(_input: unknown, ctx: ServerContext) {
  // Read first: state that does not fit ends the request here.
  const kept = readState(ctx, Kept) ?? firstAnswer(ctx);
  if ('kind' in kept) {
    return isRefusal(kept) ? cancelledResult('size') : ask({ size });
  }
  const answer = readAnswer(ctx, 'colour', colour);
  if (isRefusal(answer)) return cancelledResult('colour');
  if (answer.kind !== 'accepted') {
    return ask({ colour }, { state: kept });
  }
  return textResult(`${kept.size}, ${answer.value.colour}, to ${kept.region}.`);
}

function firstAnswer(ctx: ServerContext) {
  const answer = readAnswer(ctx, 'size', size);
  return answer.kind === 'accepted' ? { ...answer.value, region: 'us' } : answer;
}
