/** The calls of a demo, and their users. */

import { type ConversationRequest, SCRIPTS, type UserScript } from '@mrtr/comparison/calls';
import { ada, type PageReaction } from '@mrtr/demo-link-account/ada';
import { type LogicalCall, type Reply, scriptedModel, scriptedUser } from '@mrtr/harness';
import type { CountedEffect } from './closing-line.ts';
import type { Settings } from './settings.ts';

/** A call, the user who answers its questions, and the effect that it must have once. */
export type Scene = Pick<ConversationRequest, 'call' | 'user' | 'model' | 'roots'> & {
  readonly effect?: CountedEffect;
};

type Answer = Settings['answer'];
type Asked = Pick<Settings, 'tool' | 'answer'>;

export function scenesOf(name: string, settings: Asked): readonly Scene[] {
  const { answer } = settings;
  switch (name) {
    case 'basic': {
      const call = callOf('deploy', { env: 'production' });
      return [{ call, user: scriptedUser({ confirm: CONFIRMATIONS[answer] }) }];
    }
    case 'basic-multiround': {
      // It asks the questions of the work item tool.
      const user = script('resolve_work_item', WORK_ITEM[answer]).user();
      return [{ call: callOf('resolve', { id: 4522 }), user }];
    }
    case 'prompt-and-resource':
      return [
        {
          call: { method: 'prompts/get', params: { name: 'release_notes', arguments: { version: '2.0' } } },
          user: scriptedUser({ audience: replies('developers', 'customers', 'robots')[answer] }),
        },
        {
          call: { method: 'resources/read', params: { uri: 'report://quarterly' } },
          user: scriptedUser({ currency: replies('EUR', 'USD', 'gold')[answer] }),
        },
      ];
    case 'sampling-and-roots':
      return [
        {
          call: callOf('summarise', { words: 5 }),
          user: scriptedUser({}),
          model: scriptedModel('Runs a second-hand bicycle shop.'),
          roots: [{ uri: 'file:///home/ada/bicycles', name: 'bicycles' }],
        },
      ];
    case 'link-account':
      return [{ call: callOf('agenda', {}), user: scriptedUser({}, ada(WITH_PAGES[answer])) }];
    default:
      return [optionScene(settings)];
  }
}

const callOf = (name: string, args: Readonly<Record<string, unknown>>): LogicalCall => ({
  method: 'tools/call',
  params: { name, arguments: args },
});

function optionScene({ tool, answer }: Asked): Scene {
  const isWeather = tool === 'weather';
  const weather = answer === 'ask' ? 'metric' : answer;
  const played = isWeather ? script('get_weather', weather) : script('resolve_work_item', WORK_ITEM[answer]);
  const call = callOf(played.tool, played.arguments);
  return { call, user: played.user(), effect: isWeather ? 'audit' : 'write' };
}

type Given = Reply | string | boolean;

const byAnswer = <T>(metric: T, imperial: T, decline: T, cancel: T, nonsense: T) =>
  ({ metric, ask: metric, imperial, decline, cancel, nonsense }) satisfies Record<Answer, T>;

/** Makes the replies to a question with two answers of its own. */
const replies = (metric: Given, imperial: Given, nonsense: Given) =>
  byAnswer<readonly Given[]>(
    [metric],
    [imperial],
    [{ action: 'decline' }],
    [{ action: 'cancel' }],
    [nonsense, metric],
  );

const CONFIRMATIONS = replies(true, false, 'perhaps');

/** The scripts of the work item tool. */
const WORK_ITEM = byAnswer('duplicate', 'fixed', 'decline', 'cancel', 'nonsense');

/** The user's reactions to a page. Ada opens it in her browser, because the terminal has none. */
const WITH_PAGES = byAnswer<PageReaction>('links', 'says no there', 'declines', 'cancels', 'forgets');

function script(tool: UserScript['tool'], name: string): UserScript {
  const found = SCRIPTS.find((one) => one.tool === tool && one.name === name);
  if (!found) throw new Error(`The harness has no script '${name}' for ${tool}.`);
  return found;
}
