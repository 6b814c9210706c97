/** Makes the rounds of one logical call, without the cost of a real client. */
import type { poster } from '@mrtr/harness';

type Post = ReturnType<typeof poster>;

/** A tool, its arguments, and the answers that finish its call. */
export interface Plan {
  readonly name: string;
  readonly arguments: object;
  readonly answers: Readonly<Record<string, object>>;
}

/** One question. */
export const WEATHER: Plan = {
  name: 'get_weather',
  arguments: { location: 'Tokyo' },
  answers: { units: { units: 'metric' }, answer: { units: 'metric' } },
};

/** Two questions. */
export const WORK_ITEM: Plan = {
  name: 'resolve_work_item',
  arguments: { id: 4522, state: 'Resolved' },
  answers: { resolution: { resolution: 'Duplicate' }, original: { original: '4301' } },
};

/** The server's questions; undefined when the call is over. */
export type Asked = { readonly inputRequests?: object; readonly requestState?: string } | undefined;

/** Makes the first round, or the round after `asked`. @throws Error when it ends with an error. */
export async function round(post: Post, { answers, ...call }: Plan, asked?: Asked): Promise<Asked> {
  const given = Object.keys(asked?.inputRequests ?? {}).map((key) => [
    key,
    { action: 'accept', content: answers[key] },
  ]);
  const retry = asked && { inputResponses: Object.fromEntries(given), requestState: asked.requestState };
  const { result, text } = await post('tools/call', { ...call, ...retry });
  if (!result || result.isError) throw new Error(`${call.name}: ${text}`);
  return result.resultType === 'input_required' ? result : undefined;
}

/** Makes the whole call. @throws Error when it does not succeed. */
export async function call(post: Post, plan: Plan): Promise<void> {
  let asked = await round(post, plan);
  while (asked) asked = await round(post, plan, asked);
}

/** Makes calls while `goesOn`, always `atOnce` of them concurrently. Returns their number. */
export async function callMany(
  post: Post,
  plan: Plan,
  atOnce: number,
  goesOn: () => boolean,
): Promise<number> {
  let calls = 0;
  const caller = async () => {
    for (; goesOn(); calls++) await call(post, plan);
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return calls;
}
