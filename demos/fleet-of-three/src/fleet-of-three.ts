/** `pnpm demo fleet-of-three`: kills a process between two questions. The shape decides how the call ends. */
import {
  CLIENT,
  type End,
  objectIn,
  replyText,
  resultText,
  type TranscriptEvent,
  tally,
} from '@mrtr/harness/transcript';
import { converse, SCRIPTS, type Script, type Subject } from '@mrtr/matrix';
import { Processes, type ProcessHosting } from '@mrtr/matrix/processes';
import { addressOf, findOption, type ListedOption, loadOption } from '@mrtr/options';
import wrapAnsi from 'wrap-ansi';

export type Out = (text: string) => void;

export type Paint = (
  role: 'title' | 'quiet' | 'question' | 'user' | 'error' | 'result',
  text: string,
) => string;

const CONTESTANTS = {
  h: 'H in memory · the handler waits in the process that asked',
  'h-postgres': 'H on PostgreSQL · the same handler, recorded in a database',
  j: 'J · the handler runs again, from what the token carries',
} as const;

const TWO_QUESTIONS = SCRIPTS.find(({ name }) => name === 'duplicate') as Script;
const WIDTH = 80;
const MARGIN = 13;

/** Resolves with 0 when each call ended as its option claims. H on PostgreSQL keeps its calls at `postgres`. */
export async function fleetOfThree(
  out: Out,
  postgres: string,
  paint: Paint = (_role, text) => text,
): Promise<number> {
  out('\n Three server processes take turns at requests. A tool asks two questions;\n');
  out(' between them, the process that asked the first is killed with SIGKILL.\n');
  let asClaimed = true;
  for (const [id, heading] of Object.entries(CONTESTANTS)) {
    out(`\n ${paint('title', heading)}\n`);
    asClaimed = (await through(findOption(id) as ListedOption, postgres, out, paint)) && asClaimed;
  }
  if (!asClaimed) out(`\n ${paint('error', 'This is not how it should have ended.')}\n`);
  return asClaimed ? 0 : 1;
}

/** One call, through the kill. Returns whether it ended as its option claims. */
async function through(listed: ListedOption, postgres: string, out: Out, paint: Paint): Promise<boolean> {
  const option = await loadOption(listed);
  const processes = await Processes.start(() => ({ module: addressOf(listed), postgres }), { fleet: 3 });
  try {
    const transcript = await play(option, processes, narrator(out, paint));
    const finished = !hasFailed(transcript.end);
    const { write = 0 } = tally(transcript).effects;
    return finished === (option.claims.modern.afterKill === 'finishes') && write === (finished ? 1 : 0);
  } finally {
    await processes.close();
  }
}

function play(subject: Subject, processes: Processes, onEvent: (event: TranscriptEvent) => void) {
  const { tool: name, arguments: args, user } = TWO_QUESTIONS;
  const answer = user();
  let hosting: ProcessHosting | undefined;
  let killed = false;
  return converse(
    {
      subject,
      client: 'modern',
      hosting: 'processes',
      legacy: 'degrade',
      call: { method: 'tools/call', params: { name, arguments: args } },
      user: async (question) => {
        if (!killed) await hosting?.servedLast()?.kill();
        killed = true;
        return answer(question);
      },
      onEvent,
    },
    async (scene) => {
      hosting = await processes.deploy(scene);
      return hosting;
    },
  );
}

const hasFailed = ({ error, result }: End): boolean => error !== undefined || result.isError === true;

function narrator(out: Out, paint: Paint) {
  const say = (who: string, role: Parameters<Paint>[0], what: string) => {
    for (const [at, line] of wrapAnsi(what, WIDTH - MARGIN)
      .split('\n')
      .entries()) {
      const name = (at === 0 ? `   ${who}` : '').padEnd(MARGIN);
      out(`${paint('quiet', name)}${paint(role, line)}\n`);
    }
  };
  // Number the instances in the order of their first request.
  const met = new Set<string>();
  const server = (id: string) => `server ${[...met.add(id)].indexOf(id) + 1}`;
  let asking = '';
  return (event: TranscriptEvent) => {
    if (event.kind === 'question') say(asking, 'question', event.message);
    if (event.kind === 'kill') say(server(event.instance), 'error', '☠ killed');
    if (event.kind === 'answer') say('user', 'user', `☺ ${replyText(event.reply)}`);
    if (event.kind !== 'message' || event.from === CLIENT) return;
    asking = server(event.from);
    const result = objectIn(event.message, 'result');
    if (result.resultType === 'input_required') return;
    const text = resultText(result);
    say(
      asking,
      result.isError === true ? 'error' : 'result',
      `${result.isError === true ? '✗' : '✓'} ${text}`,
    );
  };
}
