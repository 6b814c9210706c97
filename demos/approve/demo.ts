/** `pnpm demo approve`: draws each way to give a yes, and says what it proves. */
import type { DrawnDemo } from '@mrtr/comparison/demo';
import { type Participant, PERSON } from '@mrtr/harness/transcript';
import { ASKED_CLIENTS, callWith, SHAPES } from './index.ts';

const AGENT: Participant = { id: PERSON, kind: 'person', label: 'agent', isAgent: true };

/** The proof of each assurance, and how it can be defeated. */
const ASSURANCES: Readonly<Record<string, string>> = {
  form: 'The client chose this answer to these words. A client, or a model, that says yes by itself defeats it.',
  'typed-form':
    'The client chose this answer, and repeated the number that the form shows. A client, or a model, that copies it defeats it.',
  page: 'A request with the session of ada pressed a button. An agent that has it, or drives that browser, or a weak sign-in, defeats it.',
};

/** Draws the calls of every asked client, in every shape or in one. */
export const demo: DrawnDemo = {
  async draw({ paint, print, wrap, drawCall }, shape) {
    for (const { id, title, createServer } of SHAPES.filter(
      (one) => shape === undefined || one.id === shape,
    )) {
      print([` ${paint('title', `shape ${id.toUpperCase()} · ${title}`)}`]);
      for (const asked of ASKED_CLIENTS) {
        print(['', ` ${paint('title', asked.title)}`, '']);
        let calls = 0;
        const { writes, assurances } = await callWith(asked, createServer, (call) => {
          if (calls++ > 0) print(['', '  ☺ opens the link, and presses the button (the demo plays ada)', '']);
          return drawCall((onEvent) => call({ onEvent }), 'write', asked.isAgent ? [AGENT] : []);
        });
        const [assurance] = assurances;
        const proof =
          assurance === undefined
            ? 'No yes counted.'
            : `A yes counted, assurance '${assurance}'. ${ASSURANCES[assurance]}`;
        const note = asked.isAgent ? 'No person saw a question; ☺ marks every answer.' : '';
        const text = `${note} ${proof} Item written ${writes}×.`.trim();
        print(['', ...wrap(text).map((line) => `  ${paint('effect', line)}`)]);
      }
      print(['']);
    }
  },
};
