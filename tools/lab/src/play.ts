/** Plays a script on one side of the lab, as a person at the page would, and records its last call. */
import { replyWith } from '@mrtr/harness/internal';
import type { Lab } from './lab.ts';
import type { Command, Recording, SideState } from './protocol.ts';
import type { Action, Script } from './script.ts';
import type { SideName } from './set-up.ts';
import { flipBit, statesIn } from './states.ts';

/** @throws Error with the lab's own words, if an action is refused, or if the call does not end. */
export async function play(lab: Lab, side: SideName, { id, about, ...script }: Script): Promise<Recording> {
  // Waits until a question is open or the call is over: then only the script continues it.
  const untilStill = () =>
    lab.until(side, ({ doing }) => doing === 'asked' || doing === 'over' || doing === 'ready');
  await lab.do({ do: 'set-up', side, setUp: script.setUp });
  let earlier: string | undefined;
  for (const action of script.actions) {
    const state = await untilStill();
    if (state.problem) throw new Error(state.problem);
    if (action.do === 'call') earlier = latestOf(state);
    // This shape did not ask the rest of the script's questions.
    else if (state.doing === 'over') continue;
    await lab.do(commandOf(action, side, state, earlier));
  }
  const { conversation, insides, doing, asked, problem } = await untilStill();
  const { end } = conversation;
  if (doing !== 'over' || !end) throw new Error(`'${id}' is not over: ${problem ?? asked?.message}`);
  return { id, about, transcript: { ...conversation, end }, insides };
}

const latestOf = ({ conversation }: SideState) => statesIn(conversation.events).at(-1);

function commandOf(action: Action, side: SideName, state: SideState, earlier?: string): Command {
  if (action.do === 'answer') {
    const { asked } = state;
    if (!asked) throw new Error('No question is open.');
    const { id: question, message, schema: requestedSchema } = asked;
    return { do: 'answer', side, question, reply: replyWith(action.reply, { message, requestedSchema }) };
  }
  if (action.do !== 'fault') return { ...action, side };
  const latest = latestOf(state);
  const { state: change, fault } = action;
  if (change === undefined || latest === undefined) return { do: 'fault', side, fault };
  const changed =
    change === 'flip' ? flipBit(latest, 20) : change === 'earlier' ? earlier : latest.replace(...change);
  return { do: 'fault', side, fault: { ...fault, state: changed } };
}
