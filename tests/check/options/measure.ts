/** Runs the checker against one option over HTTP, with all inputs. */
import { type Inputs, type ReportedCheck, run } from '@mrtr/check';
import { bundle } from '../../testkit/bundle.ts';
import { inWorld, probeOf } from '../bare.test-support.ts';
import type { SubjectName } from './expected.ts';
import { PRINCIPALS } from './principals.ts';

const SERVER = await bundle(new URL('./server.ts', import.meta.url), 'option-server');

const [OWN, OTHER] = PRINCIPALS.map(({ token }) => ({ authorization: `Bearer ${token}` }));

type CheckedTool = Pick<Inputs, 'operation' | 'otherArguments' | 'otherOperation' | 'answers' | 'probe'>;

const WEATHER = { kind: 'tool', name: 'get_weather', arguments: { location: 'Tokyo' } } as const;
const DONE = { id: 4522, state: 'Resolved' };
const RESOLVE = { kind: 'tool', name: 'resolve_work_item', arguments: DONE } as const;
const ANSWERS = {
  units: { units: 'metric' },
  resolution: { resolution: 'Duplicate' },
  original: { original: '4301' },
  // B and H choose their own keys, so `*` answers the only question of `get_weather`.
  '*': { units: 'metric' },
};

/** Both tools: one asks once and writes a log entry, the other asks twice and writes an item. */
const SUBJECTS: Readonly<Record<SubjectName, CheckedTool>> = {
  get_weather: {
    operation: WEATHER,
    otherArguments: { location: 'Paris' },
    otherOperation: RESOLVE,
    answers: ANSWERS,
    probe: probeOf('audits'),
  },
  resolve_work_item: {
    operation: RESOLVE,
    otherArguments: { id: 4600, state: 'Resolved' },
    otherOperation: WEATHER,
    answers: ANSWERS,
    probe: probeOf('writes'),
  },
};

export async function measured(
  option: string,
  subject: SubjectName,
  database: () => Promise<string>,
): Promise<readonly ReportedCheck[]> {
  const short = { only: ['state.expired'], ttlSeconds: 1 };
  const checkedWith = (more: Partial<Inputs>) =>
    inWorld(async (world) => {
      const place = { postgres: await database(), world, ttl: more.ttlSeconds };
      return (await run({ ...inputsFor(option, subject, place), ...more })).checks;
    });
  const [expired] = await checkedWith(short);
  const checked = await checkedWith({});
  return checked.map((one) => (one.id === expired?.id ? expired : one));
}

interface Surroundings {
  readonly postgres: string;
  readonly world: string;
  readonly ttl?: number | undefined;
}

export function inputsFor(
  option: string,
  subject: SubjectName,
  { postgres, world, ttl }: Surroundings,
): Inputs {
  const args = ['--option', option, '--world', world, '--postgres', postgres, '--port', '{port}'];
  const limit = ttl === undefined ? [] : ['--ttl', String(ttl)];
  const command = [process.execPath, SERVER, ...args, ...limit];
  return {
    ...SUBJECTS[subject],
    address: {
      command,
      // The same code. tests/check/deploy.proof.ts deploys changed versions.
      next: command.map((word) => `'${word}'`).join(' '),
      headers: OWN as Record<string, string>,
      otherHeaders: OTHER as Record<string, string>,
    },
    oneTime: true,
    allowEffects: true,
  };
}
