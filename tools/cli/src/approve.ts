/** `approve`: draws each way to give a yes, and says what it proves. */
import { ACTS, play, RUNGS, SHAPES } from '@mrtr/demo-approve';
import { type Participant, PERSON } from '@mrtr/harness/transcript';
import { closingLine } from './closing-line.ts';
import { wrap } from './printable.ts';
import { drawCall, print, type Stage } from './stage.ts';
import { titleLine } from './title-line.ts';

const AGENT: Participant = { id: PERSON, kind: 'person', label: 'agent', isAgent: true };

/** Draws every act, in every shape or in one. Resolves with the exit code. */
export async function approve(stage: Stage, shape?: string): Promise<number> {
  const { paint } = stage;
  for (const { id, title, createServer } of SHAPES.filter((one) => shape === undefined || one.id === shape)) {
    print(stage, [titleLine(`shape ${id.toUpperCase()} · ${title}`, '', paint)]);
    for (const act of ACTS) {
      print(stage, ['', ` ${paint('title', act.title)}`, '']);
      let calls = 0;
      const { writes, rungs } = await play(act, createServer, (call) => {
        if (calls++ > 0)
          print(stage, ['', '  ☺ opens the link, and presses the button (the demo plays ada)', '']);
        const people = act.isAgent ? [AGENT] : [];
        return drawCall(
          stage,
          (onEvent) => call({ onEvent }),
          (transcript) => closingLine(transcript, 'write'),
          { people },
        );
      });
      const [rung] = rungs;
      const proof = rung === undefined ? 'No yes counted.' : `A yes counted, rung '${rung}'. ${RUNGS[rung]}`;
      const note = act.isAgent ? 'No person saw a question; ☺ marks every answer.' : '';
      const text = `${note} ${proof} Item written ${writes}×.`.trim();
      print(stage, ['', ...wrap(text, 78).map((line) => `  ${paint('effect', line)}`)]);
    }
    print(stage, ['']);
  }
  return 0;
}
