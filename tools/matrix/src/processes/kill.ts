/** Kills the processes of calls while their users are thinking, and measures how the calls end. */

import { callSubject, type Measured, SCRIPTS, type SubjectCall } from '@mrtr/comparison/calls';
import type { ShownQuestion, User } from '@mrtr/harness';
import { Deferred } from '@mrtr/harness/internal';
import type { Transcript } from '@mrtr/harness/transcript';
import { requestOf, type Scenario } from '../measure/measurement.ts';
import type { Processes, ProcessHosting } from './deployment.ts';

export interface Survivor {
  readonly conversation: Transcript;
  /** Whether the user was being asked when the process was killed. If not, the call had ended. */
  readonly asked: boolean;
  readonly writtenAfter: number;
}

type KillScenario = Omit<Scenario, 'hosting'>;

/** Calls of one question and of two, by clients of both eras. */
const KILL_SCENARIOS: readonly KillScenario[] = (['modern', 'legacy'] as const).flatMap((client) =>
  SCRIPTS.filter(({ name }) => name === 'metric' || name === 'duplicate').map((script) => ({
    client,
    legacy: 'shim' as const,
    script,
  })),
);

export interface KillCell {
  readonly option: Measured;
  readonly scenario: KillScenario;
  readonly survivor: Survivor;
}

/** Kills some of `processes`, so use them for one measurement only. The caller closes the others. */
export async function measureKills(
  options: readonly Measured[],
  processes: Processes,
): Promise<readonly KillCell[]> {
  const calls = options.flatMap((option) => KILL_SCENARIOS.map((scenario) => ({ option, scenario })));
  // An old client is asked over its connection. The rounds of a new one may reach any process.
  const requests = calls.map(({ option, scenario }) =>
    requestOf(option, { ...scenario, hosting: scenario.client === 'legacy' ? 'http' : 'processes' }),
  );
  const survivors = await killWhileAsked(processes, requests);
  return calls.map((call, at) => ({ ...call, survivor: survivors[at] as Survivor }));
}

/**
 * Makes all calls, and waits until each has asked its first question or has ended. Then kills the processes that asked,
 * all at once, with SIGKILL. Then the users answer.
 *
 * @throws Error if no instance of a fleet would be left.
 */
async function killWhileAsked(processes: Processes, requests: readonly SubjectCall[]): Promise<Survivor[]> {
  const killed = new Deferred();
  let isKilled = false;
  const calls = requests.map((request) => {
    const call = { asked: new Deferred(), isAsked: false, writtenAfter: 0 };
    let hosting: ProcessHosting | undefined;
    const user = async (question: ShownQuestion) => {
      call.isAsked = true;
      call.asked.open();
      await killed.promise;
      return (request.user as User)(question);
    };
    const interrupted: SubjectCall = {
      ...request,
      user: Object.assign(user, { maySayNothing: request.user?.maySayNothing ?? false }),
      onEvent: ({ kind }) => {
        if (isKilled && kind === 'effect') call.writtenAfter++;
      },
    };
    const conversation = callSubject(interrupted, async (context) => {
      hosting = await processes.startHosting(context);
      return hosting;
    });
    return Object.assign(call, { conversation, servedLast: () => hosting?.servedLast() });
  });
  await Promise.all(calls.map(({ asked, conversation }) => Promise.race([asked.promise, conversation])));
  const victims = new Set(calls.flatMap((call) => (call.isAsked ? (call.servedLast() ?? []) : [])));
  await Promise.all([...victims].map((instance) => instance.kill()));
  isKilled = true;
  killed.open();
  return Promise.all(
    calls.map(async (call) => {
      const conversation = await call.conversation;
      return { conversation, asked: call.isAsked, writtenAfter: call.writtenAfter };
    }),
  );
}
