/** Plays every choice of every lesson in real processes, as a person at the live page would, and records it. */
import { ASKED_CLIENTS, callWith, SHAPES } from '@mrtr/demo-approve';
import { type LineTrace, type Reply, scriptedUser } from '@mrtr/harness';
import { Lab } from './lab.ts';
import { branchId, type Choice, LESSONS, type LessonAction } from './lessons.ts';
import type { Command, Recording, SideState } from './protocol.ts';
import { type SetUp, SIDES, type SideName } from './set-up.ts';
import { flipBit, statesIn } from './states.ts';

/** Calls `write` with each recording. */
export async function recordBranches(trace: LineTrace, write: (recording: Recording) => void) {
  const lab = new Lab();
  const recordSide = async (side: SideName) => {
    for (const branch of branchesOf(side))
      if (!('approval' in branch.what))
        write(recordingOf(branch, await playActions(lab, side, branch.what, branch.choice[side])));
  };
  try {
    await Promise.all(SIDES.map(recordSide));
  } finally {
    await lab.close();
  }
  // One after the other: they run in this process, and `trace` records all its lines.
  for (const branch of SIDES.flatMap(branchesOf))
    if ('approval' in branch.what)
      write(recordingOf(branch, await playApproval(branch.what.approval, branch.choice, trace)));
}

const branchesOf = (side: SideName) =>
  LESSONS.flatMap((lesson) =>
    lesson.choices.map((choice) => ({ lesson, choice, side, what: lesson.sides[side === 'left' ? 0 : 1] })),
  );

type Branch = ReturnType<typeof branchesOf>[number];

type Played = Pick<Recording, 'transcript' | 'insides'>;

const recordingOf = ({ lesson, choice, side }: Branch, played: Played): Recording => ({
  id: branchId(lesson.id, choice.id, side),
  about: `${lesson.title}: ${choice.words}`,
  ...played,
});

const FORM_BY_HAND: (typeof ASKED_CLIENTS)[number] = {
  title: 'a person who fills the form',
  where: 'form',
  state: 'Resolved',
  user: () => scriptedUser({ resolution: ['Fixed'], sure: ['approve'] }),
};

/** Records an approval in a form or on a page, answered by a program or a person. */
async function playApproval(where: 'form' | 'page', { id }: Choice, trace: LineTrace) {
  const unattended = ASKED_CLIENTS.find((one) => one.where === where && one.isAgent);
  const asked = id === 'agent' ? unattended : where === 'page' ? ASKED_CLIENTS[0] : FORM_BY_HAND;
  const [shape] = SHAPES;
  if (!asked || !shape) throw new Error(`There is no client that ${id} is, asked in a ${where}.`);
  const takeLines = () => trace.take();
  const { transcripts } = await callWith(asked, shape.createServer, (call) => call({ takeLines }));
  const [transcript] = transcripts;
  if (!transcript) throw new Error('The client made no call.');
  const title = where === 'form' ? 'The form' : 'The page';
  return { transcript: { ...transcript, title }, insides: {} };
}

/** Plays a script on one side, as a person would. */
async function playActions(lab: Lab, side: SideName, setUp: SetUp, actions: readonly LessonAction[]) {
  // Waits until a question is open or the call is over: then only the script continues it.
  const untilStill = () =>
    lab.until(side, ({ doing }) => doing === 'asked' || doing === 'over' || doing === 'ready');
  await lab.do({ do: 'set-up', side, setUp });
  for (const action of actions) {
    const state = await untilStill();
    if (state.problem) throw new Error(state.problem);
    // This shape did not ask the rest of the script's questions.
    if (state.doing === 'over') break;
    await lab.do(commandOf(action, side, state));
  }
  const { conversation, insides, doing, asked, problem } = await untilStill();
  const { title, end } = conversation;
  if (doing !== 'over' || !end)
    throw new Error(`The call of ${title} did not end. ${problem ?? `It still asks "${asked?.message}".`}`);
  return { transcript: { ...conversation, end }, insides };
}

function commandOf(action: LessonAction, side: SideName, { asked, conversation }: SideState): Command {
  if (action.do === 'answer' || action.do === 'decline') {
    if (!asked) throw new Error('No question is open.');
    return { do: 'answer', side, question: asked.id, reply: replyOf(action, asked.schema) };
  }
  if (action.do !== 'fault') return { ...action, side };
  const { state, fault } = action;
  const latest = statesIn(conversation.events).at(-1);
  if (state === undefined || latest === undefined) return { do: 'fault', side, fault };
  const changed = state === 'flip' ? flipBit(latest, 20) : latest.replace(...state);
  return { do: 'fault', side, fault: { ...fault, state: changed } };
}

function replyOf(action: Extract<LessonAction, { do: 'answer' | 'decline' }>, schema: object): Reply {
  if (action.do === 'decline') return { action: 'decline' };
  const [field = ''] = Object.keys((schema as { readonly properties?: object }).properties ?? {});
  return { action: 'accept', content: { [field]: action.value } };
}
