/** The network between a client and its server, with the faults of networks and the acts of attackers. */
import type { Fetch, Recorder } from '@mrtr/harness/internal';
import { CLIENT, eventsOf, type WireMessage } from '@mrtr/harness/transcript';
import type { Fault } from './protocol.ts';

/** Delivers a call's requests through `send`. `faultOf` gives the fault for the next one. */
export function network(send: Fetch, recorder: Recorder, faultOf: () => Fault): Fetch {
  return async (url, init) => {
    const request = callIn(init);
    if (!request) return send(url, init);
    const fault = faultOf();
    const message = onTheWay(request, fault);
    if (message) recorder.recordAltered(String(init?.body), message);
    const delivered = { ...init, ...(message && { body: JSON.stringify(message) }) };
    const answer = await send(url, delivered);
    if (fault.deliver === 'once') return answer;
    loseAnswer(recorder, await answer.text());
    if (fault.deliver === 'lose-answer') throw new Error('The connection was lost before the answer came.');
    recorder.record({ kind: 'message', from: CLIENT, message: message ?? request, again: true });
    return send(url, delivered);
  };
}

/** The request as an attacker alters it; undefined if it stays unchanged. */
function onTheWay(request: Call, { state, unasked }: Fault) {
  if (state === undefined && unasked === undefined) return undefined;
  const { inputResponses, ...params } = request.params;
  const forged = unasked && { [unasked.key]: { action: 'accept', content: unasked.content } };
  return {
    ...request,
    params: {
      ...params,
      ...((inputResponses || forged) && { inputResponses: { ...inputResponses, ...forged } }),
      ...(state !== undefined && { requestState: state }),
    },
  };
}

function loseAnswer(recorder: Recorder, text: string) {
  const message = parsedAnswer(text);
  const request = eventsOf('message', recorder.events).findLast(({ from }) => from === CLIENT);
  if (message && request?.to !== undefined)
    recorder.record({ kind: 'message', from: request.to, to: CLIENT, message, lost: true });
}

type Call = WireMessage & {
  readonly params: Readonly<Record<string, unknown>> & { inputResponses?: object };
};

/** The call that a request makes; undefined for another request. */
export function callIn(init: RequestInit | undefined): Call | undefined {
  const request = init?.method === 'POST' ? parseCall(String(init.body)) : undefined;
  return request?.method === 'tools/call' ? request : undefined;
}

function parseCall(body: string) {
  try {
    return JSON.parse(body) as Call;
  } catch {
    return undefined;
  }
}

/** Parses the message in a response: JSON or an event stream. */
const parsedAnswer = (text: string) => parseCall(/^data: (.+)$/m.exec(text)?.[1] ?? text);
