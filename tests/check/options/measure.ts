/** Runs the checker against one option, over HTTP, with everything that a run can be given. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checked, type RunInputs, run } from '@mrtr/check';
import { PRINCIPALS } from './principals.ts';

const [OWN, OTHER] = PRINCIPALS.map(({ token }) => ({ authorization: `Bearer ${token}` }));

type Subject = Pick<RunInputs, 'operation' | 'otherArguments' | 'otherOperation' | 'answers' | 'probe'>;

const probe = (name: string) =>
  ({ kind: 'operation', operation: { kind: 'tool', name, arguments: {} } }) as const;

const WEATHER = { kind: 'tool', name: 'get_weather', arguments: { location: 'Tokyo' } } as const;
const DONE = { id: 4522, state: 'Resolved' };
const RESOLVE = { kind: 'tool', name: 'resolve_work_item', arguments: DONE } as const;
const ANSWERS = {
  units: { units: 'metric' },
  resolution: { resolution: 'Duplicate' },
  original: { original: 4301 },
  // B and H name their questions themselves. `get_weather` asks one, and the work item is named in its questions.
  '*': { units: 'metric' },
};

/** Both tools: one question and an entry in the log, and two questions and a write. */
export const SUBJECTS = {
  get_weather: {
    operation: WEATHER,
    otherArguments: { location: 'Paris' },
    otherOperation: RESOLVE,
    answers: ANSWERS,
    probe: probe('audits'),
  },
  resolve_work_item: {
    operation: RESOLVE,
    otherArguments: { id: 4600, state: 'Resolved' },
    otherOperation: WEATHER,
    answers: ANSWERS,
    probe: probe('writes'),
  },
} as const satisfies Record<string, Subject>;

export type SubjectName = keyof typeof SUBJECTS;

/** The server's program, and where it keeps what its instances share. */
export interface Place {
  readonly server: string;
  readonly database: () => Promise<string>;
}

/** Every check of a run, and of a second one with a short time to live. Each has a database of its own. */
export async function measured(
  option: string,
  subject: SubjectName,
  { server, database }: Place,
): Promise<readonly Checked[]> {
  const short = { only: ['state.expired'], ttlSeconds: 1 };
  const [expired] = await checkedWith(option, subject, { server, postgres: await database() }, short);
  const checked = await checkedWith(option, subject, { server, postgres: await database() }, {});
  return checked.map((one) => (one.check.id === expired?.check.id ? expired : one));
}

interface OneServer {
  readonly server: string;
  readonly postgres: string;
}

async function checkedWith(
  option: string,
  subject: SubjectName,
  place: OneServer,
  more: Partial<RunInputs>,
): Promise<readonly Checked[]> {
  const world = await mkdtemp(join(tmpdir(), 'mrtr-check-options-'));
  try {
    return (await run({ ...inputsFor(option, subject, { ...place, world, ttl: more.ttlSeconds }), ...more }))
      .checked;
  } finally {
    await rm(world, { recursive: true, force: true });
  }
}

export function inputsFor(
  option: string,
  subject: SubjectName,
  { server, postgres, world, ttl }: OneServer & { readonly world: string; readonly ttl?: number | undefined },
): RunInputs {
  const args = ['--option', option, '--world', world, '--postgres', postgres, '--port', '{port}'];
  const limit = ttl === undefined ? [] : ['--ttl', String(ttl)];
  const command = [process.execPath, server, ...args, ...limit];
  return {
    ...SUBJECTS[subject],
    address: {
      command,
      // The same code again: what changes of it come to is measured in tests/check/deploy.proof.ts.
      next: command.map((word) => `'${word}'`).join(' '),
      headers: OWN as Record<string, string>,
      otherHeaders: OTHER as Record<string, string>,
    },
    oneTime: true,
    allowEffects: true,
  };
}
