/** `pnpm demo fleet-of-three`: a process is killed between two questions, and what becomes of the call is the shape's. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Conversation, User } from '@mrtr/harness';
import { option as memory } from '@mrtr/option-h';
import { postgres } from '@mrtr/option-h-postgres';
import { option as journal } from '@mrtr/option-j';
import { converse, SCRIPTS, type Script } from '@mrtr/tests/matrix';
import { Processes, type ProcessHosting } from '@mrtr/tests/processes';
import type { Option } from '@mrtr/tools';

/** Where the demo writes. */
export type Out = (text: string) => void;

/** How the parts of a line are told apart, on a terminal that has colours. */
export type Paint = (
  role: 'title' | 'quiet' | 'question' | 'user' | 'error' | 'result',
  text: string,
) => string;

/** A shape, and where another process finds it. */
interface Contestant {
  readonly option: Option;
  readonly heading: string;
  readonly package: string;
  readonly exported: string;
}

const CONTESTANTS: readonly Contestant[] = [
  {
    option: memory,
    heading: 'H in memory · the handler waits in the process that asked',
    package: '@mrtr/option-h',
    exported: 'option',
  },
  {
    option: postgres,
    heading: 'H on PostgreSQL · the same handler, recorded in a database',
    package: '@mrtr/option-h-postgres',
    exported: 'postgres',
  },
  {
    option: journal,
    heading: 'J · the handler runs again, from what the token carries',
    package: '@mrtr/option-j',
    exported: 'option',
  },
];

const require = createRequire(import.meta.url);
const TWO_QUESTIONS = SCRIPTS.find(({ name }) => name === 'duplicate') as Script;
const WIDTH = 80;
const MARGIN = 13;

/**
 * Shows all of them. H on PostgreSQL finds its database in the environment.
 *
 * @returns the exit code: 0 when each call ended as its option claims.
 */
export async function fleetOfThree(out: Out, paint: Paint = (_role, text) => text): Promise<number> {
  out('\n Three server processes behind a round-robin proxy. A tool asks two questions;\n');
  out(' between them, the process that asked the first is killed with SIGKILL.\n');
  let asClaimed = true;
  for (const contestant of CONTESTANTS) {
    out(`\n ${paint('title', contestant.heading)}\n`);
    asClaimed = (await through(contestant, out, paint)) && asClaimed;
  }
  if (!asClaimed) out(`\n ${paint('error', 'This is not how it should have ended.')}\n`);
  return asClaimed ? 0 : 1;
}

/** One call, through the kill. Says whether it ended as its option claims. */
async function through({ option, ...where }: Contestant, out: Out, paint: Paint): Promise<boolean> {
  const module = pathToFileURL(require.resolve(where.package)).href;
  const processes = await Processes.start(() => ({ module, name: where.exported }), { fleet: 3 });
  try {
    const call = new Call(option, processes, out, paint);
    const { result, error } = await call.made();
    const finished = result?.isError !== true && error === undefined;
    return finished === (option.claims.modern.afterKill === 'finishes') && call.writes === (finished ? 1 : 0);
  } finally {
    await processes.close();
  }
}

class Call {
  writes = 0;
  readonly #option: Option;
  readonly #processes: Processes;
  readonly #out: Out;
  readonly #paint: Paint;
  readonly #names = new Map<unknown, string>();
  #hosting: ProcessHosting | undefined;

  constructor(option: Option, processes: Processes, out: Out, paint: Paint) {
    this.#option = option;
    this.#processes = processes;
    this.#out = out;
    this.#paint = paint;
  }

  async made(): Promise<Conversation> {
    const { tool: name, arguments: args, user } = TWO_QUESTIONS;
    const conversation = await converse(
      {
        subject: this.#option,
        client: 'modern',
        hosting: 'processes',
        legacy: 'degrade',
        call: { method: 'tools/call', params: { name, arguments: args } },
        user: this.#watched(user()),
        onEvent: ({ kind }) => {
          if (kind === 'write') this.writes++;
        },
      },
      async (scene) => {
        this.#hosting = await this.#processes.deploy(scene);
        return this.#hosting;
      },
    );
    const { result, error } = conversation;
    const failed = error !== undefined || result?.isError === true;
    const text = error ?? textOf(result);
    this.#say(this.#server, failed ? 'error' : 'result', failed ? `✗ ${text}` : `✓ ${text}`);
    return conversation;
  }

  /** The same user, seen to answer; before the first answer, the process that waits for it is killed. */
  #watched(answer: User): User {
    let killed = false;
    return async (question) => {
      const asking = this.#server;
      this.#say(asking, 'question', question.message);
      if (!killed) {
        killed = true;
        await this.#hosting?.servedLast()?.kill();
        this.#say(asking, 'error', '☠ killed');
      }
      const reply = await answer(question);
      const said = typeof reply === 'string' ? reply : Object.values(reply.content ?? {}).join();
      this.#say('user', 'user', `☺ ${said}`);
      return reply;
    };
  }

  /** The process that served the latest round, by the order in which they are met. */
  get #server(): string {
    const instance = this.#hosting?.servedLast();
    const name = this.#names.get(instance) ?? `server ${this.#names.size + 1}`;
    this.#names.set(instance, name);
    return name;
  }

  /** Within the width of a terminal, what is said beside who says it. */
  #say(who: string, role: Parameters<Paint>[0], what: string): void {
    const room = WIDTH - MARGIN;
    const lines = what.replace(new RegExp(`(.{1,${room}})(?: |$)`, 'g'), '$1\n').trimEnd();
    for (const [at, line] of lines.split('\n').entries()) {
      const name = (at === 0 ? `   ${who}` : '').padEnd(MARGIN);
      this.#out(`${this.#paint('quiet', name)}${this.#paint(role, line)}\n`);
    }
  }
}

function textOf(result: unknown): string {
  const { content = [] } = (result ?? {}) as { readonly content?: readonly { readonly text?: string }[] };
  return content[0]?.text ?? '';
}
