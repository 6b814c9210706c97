/** An entry counts for its own call's conversation. */

import { callSubject, findScript } from '@mrtr/comparison/calls';
import { addressOf, loadOption } from '@mrtr/comparison/options';
import { Deferred } from '@mrtr/harness/internal';
import { tally } from '@mrtr/harness/transcript';
import { requestOf } from '@mrtr/matrix';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, onTestFinished } from 'vitest';
import { type ProcessHosting, startProcesses } from './deployment.ts';

const { database, test } = await postgresOfTheRun();

test('an entry after a takeover counts for its own conversation, not for the first one', async () => {
  const postgres = await database();
  const subject = await loadOption('h-postgres', postgres);
  const processes = await startProcesses(() => ({ module: addressOf(subject), postgres }), { fleet: 2 });
  onTestFinished(() => processes.close());
  const script = findScript('metric');
  const answer = new Deferred();

  async function begun() {
    const [asked, deployed] = [new Deferred(), new Deferred<ProcessHosting>()];
    const request = requestOf(subject, { client: 'modern', legacy: 'shim', hosting: 'processes', script });
    const user: typeof request.user = async (question) => {
      asked.open();
      await answer.promise;
      return script.user()(question);
    };
    const over = callSubject({ ...request, user }, async (context) => {
      const hosting = await processes.startHosting(context);
      deployed.open(hosting);
      return hosting;
    });
    await Promise.race([asked.promise, over]);
    return { over, hosting: await deployed.promise };
  }

  // The first conversation launches DBOS in both processes, so DBOS runs in that conversation's context.
  const first = await begun();
  const second = await begun();
  const victim = second.hosting.servedLast();
  expect(victim).toBe(first.hosting.servedLast());
  await victim?.kill();
  answer.open();
  const conversations = await Promise.all([first.over, second.over]);
  expect(conversations.map((conversation) => tally(conversation).entries)).toEqual([2, 2]);
});
