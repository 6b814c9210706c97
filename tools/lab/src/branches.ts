/** Every choice of every lesson, as a script or as an approval in this process. */
import { ASKED_CLIENTS, callWith, SHAPES } from '@mrtr/demo-approve';
import { LineTrace, scriptedUser } from '@mrtr/harness';
import { authorsFile } from '@mrtr/matrix/processes';
import { branchId, LESSONS } from './lessons.ts';
import type { Recording } from './protocol.ts';
import type { Script } from './script.ts';
import { SIDES } from './set-up.ts';

const BRANCHES = LESSONS.flatMap(({ id, title, sides, choices }) =>
  choices.flatMap((choice) =>
    SIDES.map((side, at) => ({
      id: branchId(id, choice.id, side),
      about: `${title}: ${choice.words}`,
      setUp: sides[at as 0 | 1],
      actions: choice[side],
      choice: choice.id,
    })),
  ),
);

/** The choices that are played in real processes. */
export const BRANCH_SCRIPTS = BRANCHES.filter(
  (one): one is typeof one & Script => !('approval' in one.setUp),
);

const FORM_BY_HAND: (typeof ASKED_CLIENTS)[number] = {
  title: 'a person who fills the form',
  where: 'form',
  state: 'Resolved',
  user: () => scriptedUser({ resolution: ['Fixed'], sure: ['approve'] }),
};

/** Records each approval in a form or on a page, answered by a program or a person. Calls `write` with it. */
export async function recordApprovals(write: (recording: Recording) => void) {
  const trace = new LineTrace(authorsFile);
  // One after the other: the trace records all lines of this process.
  for (const { id, about, setUp, choice } of BRANCHES) {
    if (!('approval' in setUp)) continue;
    const where = setUp.approval;
    const unattended = ASKED_CLIENTS.find((one) => one.where === where && one.isAgent);
    const asked = choice === 'agent' ? unattended : where === 'page' ? ASKED_CLIENTS[0] : FORM_BY_HAND;
    const [shape] = SHAPES;
    if (!asked || !shape) throw new Error(`There is no client that ${choice} is, asked in a ${where}.`);
    const takeLines = () => trace.take();
    const { transcripts } = await callWith(asked, shape.createServer, (call) => call({ takeLines }));
    const [transcript] = transcripts;
    if (!transcript) throw new Error('The client made no call.');
    const title = where === 'form' ? 'The form' : 'The page';
    write({ id, about, transcript: { ...transcript, title }, insides: {} });
  }
  trace.close();
}
