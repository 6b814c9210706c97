/** The connection to the live lab. It needs the token in the address that `pnpm lab` printed. */
import { useEffect, useState } from 'preact/hooks';
import type { Command, SideChange, SideState } from '../../../src/protocol.ts';
import { type SetUp, SIDES, type SideName } from '../../../src/set-up.ts';

export type Live =
  /** The page was exported, or opened without the token. */
  | { readonly kind: 'none'; readonly why: string; readonly hasRecordings: boolean }
  | { readonly kind: 'connecting' }
  | {
      readonly kind: 'open';
      readonly sides: Readonly<Record<SideName, SideState>>;
      readonly send: (command: Command) => void;
      /** The reason, if the lab has ended. */
      readonly gone?: string;
    };

/** The props of a side's controls. */
export interface SideProps {
  readonly side: SideName;
  readonly state: SideState;
  readonly send: (command: Command) => void;
}

export type OpenLive = Extract<Live, { kind: 'open' }>;

export function setUpBoth({ send }: OpenLive, setUps: readonly SetUp[]): void {
  for (const [at, setUp] of setUps.entries()) send({ do: 'set-up', side: SIDES[at] ?? 'left', setUp });
}

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
    history.replaceState(null, '', location.hash.replace(/[#&?]token=[\w-]+/, '') || '#/');
  }
  return sessionStorage.getItem(KEPT) ?? undefined;
}

const EXPORTED = 'This page has no server. In the repository, pnpm lab opens it with one.';
const NO_TOKEN = 'Open the address that pnpm lab printed: this one lacks its token, so it can start nothing.';
const GONE = 'The lab was closed. What happened until then stays here. Start it again with pnpm lab.';

const isExported = location.protocol === 'file:' || document.documentElement.hasAttribute('data-exported');
let token = isExported ? undefined : takeToken();

const post = (path: string, body: string) =>
  fetch(path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });

const without = (why: string): Live => ({ kind: 'none', why, hasRecordings: why !== GONE });

export function useLive(): Live {
  const [live, setLive] = useState<Live>(() => {
    if (isExported) return without(EXPORTED);
    return token === undefined ? without(NO_TOKEN) : { kind: 'connecting' };
  });
  useEffect(() => {
    if (isExported) return;
    let known: Partial<Record<SideName, SideState>> = {};
    const open = (rest: Pick<OpenLive, 'send' | 'gone'>): boolean => {
      const { left, right } = known;
      if (!left || !right) return false;
      setLive({ kind: 'open', sides: { left, right }, ...rest });
      return true;
    };
    const send = (command: Command) => void post('do', JSON.stringify(command));
    listen(({ side, state }) => {
      known = { ...known, [side]: state };
      open({ send });
    })
      .catch(() => GONE)
      .then((gone) => open({ send: () => {}, gone }) || setLive(without(gone)));
  }, []);
  return live;
}

/** Resolves with the reason when the lab has ended. */
async function listen(onChange: (change: SideChange) => void): Promise<string> {
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
    for (const line of lines) onChange(JSON.parse(line) as SideChange);
  }
}
