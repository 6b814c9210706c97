/** Plays every choice of every lesson in real processes, as a person at the live page would, and records it. */
import { ACTS, play, SHAPES } from '@mrtr/demo-approve';
import { type LineTrace, type Reply, scriptedUser } from '@mrtr/harness';
import { Database } from '@mrtr/matrix/processes';
import { branchId, type Choice, LESSONS, type Lesson, type Step } from './lessons.ts';
import { Pane } from './pane.ts';
import { Postgres } from './postgres.ts';
import type { Recording, SetUp, SideName, SideState } from './protocol.ts';
import { flipBit, statesIn } from './states.ts';

const SIDES = ['left', 'right'] as const;

/** Calls `write` with each recording. */
export async function recordBranches(trace: LineTrace, write: (recording: Recording) => void): Promise<void> {
  const database = new Database();
  // No lesson needs one.
  const postgres = new Postgres();
  const recordSide = async (side: SideName) => {
    const player = new Player(database, postgres);
    try {
      for (const branch of branchesOf(side))
        if (!('approval' in branch.what))
          write(recordingOf(branch, await player.play(branch.what, branch.choice[side])));
    } finally {
      await player.close();
    }
  };
  try {
    await Promise.all(SIDES.map(recordSide));
  } finally {
    database.close();
  }
  // One after the other: they run in this process, whose lines `trace` takes.
  for (const branch of SIDES.flatMap(branchesOf))
    if ('approval' in branch.what)
      write(recordingOf(branch, await playApproval(branch.what.approval, branch.choice, trace)));
}

interface Branch {
  readonly lesson: Lesson;
  readonly choice: Choice;
  readonly side: SideName;
  readonly what: Lesson['sides'][number];
}

const branchesOf = (side: SideName): readonly Branch[] =>
  LESSONS.flatMap((lesson) =>
    lesson.choices.map((choice) => ({ lesson, choice, side, what: lesson.sides[side === 'left' ? 0 : 1] })),
  );

type Played = Pick<Recording, 'transcript' | 'insides'>;

const recordingOf = ({ lesson, choice, side }: Branch, played: Played): Recording => ({
  id: branchId(lesson.id, choice.id, side),
  about: `${lesson.title}: ${choice.words}`,
  ...played,
});

const FORM_BY_HAND: (typeof ACTS)[number] = {
  title: 'a person who fills the form',
  where: 'form',
  state: 'Resolved',
  user: () => scriptedUser({ resolution: ['Fixed'], sure: ['approve'] }),
};

/** A program or a person is asked for the same yes, in a form or on a page. */
async function playApproval(where: 'form' | 'page', { id }: Choice, trace: LineTrace): Promise<Played> {
  const unattended = ACTS.find((one) => one.where === where && one.isAgent);
  const act = id === 'agent' ? unattended : where === 'page' ? ACTS[0] : FORM_BY_HAND;
  const [shape] = SHAPES;
  if (!act || !shape) throw new Error(`There is no act of ${id} in a ${where}.`);
  const takeLines = () => trace.take();
  const { transcripts } = await play(act, shape.createServer, (call) => call({ takeLines }));
  const [transcript] = transcripts;
  if (!transcript) throw new Error('The act made no call.');
  const title = where === 'form' ? 'The form' : 'The page';
  return { transcript: { ...transcript, title }, insides: {} };
}

/** One side of the lab, played by a script. */
class Player {
  readonly #database: Database;
  readonly #postgres: Postgres;
  #pane: Pane | undefined;
  #changed = () => {};

  constructor(database: Database, postgres: Postgres) {
    this.#database = database;
    this.#postgres = postgres;
  }

  async play(setUp: SetUp, steps: readonly Step[]): Promise<Played> {
    const pane = await this.#open(setUp);
    for (const step of steps) {
      const state = await this.#untilStill(pane);
      // The rest of the script was for questions that this shape did not ask.
      if (state.doing === 'over') break;
      await doStep(pane, step, state);
    }
    const { conversation, insides, doing, asked } = await this.#untilStill(pane);
    const { title, end } = conversation;
    if (doing !== 'over' || !end)
      throw new Error(`The call of ${title} did not end: it still asks "${asked?.message}".`);
    return { transcript: { ...conversation, end }, insides };
  }

  async close(): Promise<void> {
    await this.#pane?.close();
  }

  async #open(setUp: SetUp): Promise<Pane> {
    if (!this.#pane) {
      this.#pane = new Pane(this.#database, this.#postgres, setUp, () => this.#changed());
      await this.#pane.start();
    }
    await this.#pane.setUp(setUp);
    return this.#pane;
  }

  /** Waits until a question is open or the call is over, so that nothing happens without the script. */
  #untilStill(pane: Pane): Promise<SideState> {
    return new Promise((resolve) => {
      this.#changed = () => {
        const { state } = pane;
        if (state.doing === 'asked' || state.doing === 'over' || state.doing === 'ready') resolve(state);
      };
      this.#changed();
    });
  }
}

async function doStep(pane: Pane, step: Step, { asked, conversation }: SideState): Promise<void> {
  switch (step.do) {
    case 'call':
      return pane.call();
    case 'kill':
      return pane.kill(step.instance);
    case 'deploy':
      return pane.deploy(step.change);
    case 'fault': {
      const latest = statesIn(conversation.events).at(-1);
      if (step.state === undefined || latest === undefined) return pane.setFault(step.fault);
      const state = step.state === 'flip' ? flipBit(latest, 20) : latest.replace(...step.state);
      return pane.setFault({ ...step.fault, state });
    }
    default:
      if (!asked) throw new Error('No question is open.');
      return pane.answer(asked.id, replyOf(step, asked.schema));
  }
}

function replyOf(step: Extract<Step, { do: 'answer' | 'decline' }>, schema: object): Reply {
  if (step.do === 'decline') return { action: 'decline' };
  const [field = ''] = Object.keys((schema as { readonly properties?: object }).properties ?? {});
  return { action: 'accept', content: { [field]: step.value } };
}
