/** The connection to the live lab. It needs the token in the address that `pnpm lab` printed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Change, Command, SideName, SideState } from '../../../src/protocol.ts';

export type Live =
  /** The page was exported, or opened without the token. */
  | { readonly kind: 'none'; readonly why: string; readonly hasRecordings: boolean }
  | { readonly kind: 'connecting' }
  | {
      readonly kind: 'open';
      readonly sides: Readonly<Record<SideName, SideState>>;
      readonly send: (command: Command) => Promise<void>;
      /** The reason, if the lab has ended. */
      readonly gone?: string;
    };

const KEPT = 'mrtr-lab-token';

/** Shares the token between the lab's tabs. Only pages of the same origin receive it. */
const tabs = new BroadcastChannel('mrtr-lab');
const ASKS = 'Which token?';

/** Resolves with the token of another tab, as soon as a tab has one. */
function askOtherTabs(): Promise<string> {
  return new Promise((resolve) => {
    tabs.addEventListener('message', ({ data }) => {
      if (typeof data?.token !== 'string') return;
      sessionStorage.setItem(KEPT, data.token);
      resolve(data.token);
    });
    tabs.postMessage(ASKS);
  });
}

function answerOtherTabs(token: string): void {
  tabs.addEventListener('message', ({ data }) => {
    if (data === ASKS) tabs.postMessage({ token });
  });
  tabs.postMessage({ token });
}

/** Removes the token from the address, so that no copied link contains it. */
function takeToken(): string | undefined {
  const given = /[#&?]token=([\w-]+)/.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, '', '#/');
  }
  return sessionStorage.getItem(KEPT) ?? undefined;
}

const EXPORTED = 'This page has no server. In the repository, pnpm lab opens it with one.';
const NO_TOKEN = 'Open the address that pnpm lab printed: this one lacks its token, so it can start nothing.';
const GONE = 'The lab was closed. What happened until then stays here. Start it again with pnpm lab.';

const isExported = location.protocol === 'file:' || document.documentElement.hasAttribute('data-exported');
let token = isExported ? undefined : takeToken();

async function post(path: string, body: string): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
}

async function send(command: Command): Promise<void> {
  await post('do', JSON.stringify(command));
}

const without = (why: string): Live => ({ kind: 'none', why, hasRecordings: why !== GONE });

export function useLive(): Live {
  const [live, setLive] = useState<Live>(() => {
    if (isExported) return without(EXPORTED);
    return token === undefined ? without(NO_TOKEN) : { kind: 'connecting' };
  });
  const sides = useRef<Partial<Record<SideName, SideState>>>({});
  useEffect(() => {
    if (isExported) return;
    const onChange = ({ side, state }: Change) => {
      sides.current = { ...sides.current, [side]: state };
      const { left, right } = sides.current;
      if (left && right) setLive({ kind: 'open', sides: { left, right }, send });
    };
    const end = (why: string) => {
      const { left, right } = sides.current;
      if (left && right) setLive({ kind: 'open', sides: { left, right }, send: async () => {}, gone: why });
      else setLive(without(why));
    };
    listen(onChange)
      .catch(() => GONE)
      .then(end);
  }, []);
  return live;
}

/** Resolves with the reason when the lab has ended. */
async function listen(onChange: (change: Change) => void): Promise<string> {
  token ??= await askOtherTabs();
  const response = await post('changes', '');
  if (!response.ok || !response.body) {
    sessionStorage.removeItem(KEPT);
    return NO_TOKEN;
  }
  answerOtherTabs(token);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return GONE;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onChange(JSON.parse(line) as Change);
  }
}
