/** What is called in a demo, and by what sort of user. */
import { type ConversationRequest, type Reply, SCRIPTS, type Script, scripted } from '@mrtr/harness';
import type { Settings } from './args.ts';
import type { Name } from './catalog.ts';
import type { CountedEffect } from './counts.ts';

/** A call, the user who will be asked, and the effect that the call is to have once. */
export type Scene = Pick<ConversationRequest, 'call' | 'user'> & { readonly effect: CountedEffect };

type Answer = Settings['answer'];

/** The scene of `name`. For `ask`, where the user is somebody else, it has the user of `metric`. */
export function sceneOf(name: Name, { tool, answer }: Pick<Settings, 'tool' | 'answer'>): Scene {
  switch (name) {
    case 'basic':
      return {
        call: { name: 'deploy', arguments: { env: 'production' } },
        user: scripted({ confirm: CONFIRMATIONS[answer] }),
        effect: undefined,
      };
    case 'basic-multiround':
      // It asks what the work item tool asks.
      return {
        call: { name: 'resolve', arguments: { id: 4522 } },
        user: script('resolve_work_item', WORK_ITEM[answer]).user(),
        effect: undefined,
      };
    default:
      return tool === 'weather'
        ? scripting(script('get_weather', answer === 'ask' ? 'metric' : answer), 'audits')
        : scripting(script('resolve_work_item', WORK_ITEM[answer]), 'writes');
  }
}

const yes: Reply = { action: 'accept', content: { confirm: true } };

const CONFIRMATIONS: Readonly<Record<Answer, readonly Reply[]>> = {
  metric: [yes],
  ask: [yes],
  imperial: [{ action: 'accept', content: { confirm: false } }],
  decline: [{ action: 'decline' }],
  cancel: [{ action: 'cancel' }],
  nonsense: [{ action: 'accept', content: { confirm: 'perhaps' } }, yes],
};

/** The names of the work item tool's scripts. */
const WORK_ITEM: Readonly<Record<Answer, string>> = {
  metric: 'duplicate',
  ask: 'duplicate',
  imperial: 'fixed',
  decline: 'decline',
  cancel: 'cancel',
  nonsense: 'nonsense',
};

function script(tool: Script['tool'], name: string): Script {
  const found = SCRIPTS.find((one) => one.tool === tool && one.name === name);
  if (!found) throw new Error(`The harness has no script '${name}' for ${tool}.`);
  return found;
}

const scripting = ({ tool, arguments: args, user }: Script, effect: CountedEffect): Scene => ({
  call: { name: tool, arguments: args },
  user: user(),
  effect,
});
