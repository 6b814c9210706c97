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
      readonly gone?: string | undefined;
    };

/** The props of a side's controls. */
export interface SideProps {
  readonly side: SideName;
  readonly state: SideState;
  readonly send: (command: Command) => void;
}

export type OpenLive = Extract<Live, { kind: 'open' }>;

export function setUpBoth({ send }: OpenLive, setUps: readonly SetUp[]) {
  for (const [at, setUp] of setUps.entries()) send({ do: 'set-up', side: SIDES[at] ?? 'left', setUp });
}

/** Shared by the tabs of this lab: a page at another port is of another origin. */
const KEPT = 'mrtr-lab-token';

/** Removes the token from the address, so that no copied link contains it. */
function takeToken() {
  const given = /[#&?]token=([\w-]+)/.exec(location.hash)?.[1];
  if (given) {
    localStorage.setItem(KEPT, given);
    history.replaceState(null, '', location.hash.replace(/[#&?]token=[\w-]+/, '') || '#/');
  }
  return localStorage.getItem(KEPT) ?? undefined;
}

/** Resolves when another tab is opened with a token. */
const tokenOfAnotherTab = () =>
  new Promise<string>((resolve) => {
    addEventListener('storage', ({ key, newValue }) => {
      if (key === KEPT && newValue !== null) resolve(newValue);
    });
  });

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
    const sides: Partial<Record<SideName, SideState>> = {};
    const show = (send: OpenLive['send'], gone?: string) => {
      const { left, right } = sides;
      if (left && right) setLive({ kind: 'open', sides: { left, right }, send, gone });
      else if (gone !== undefined) setLive(without(gone));
    };
    const send = (command: Command) => void post('do', JSON.stringify(command));
    listen(({ side, state }) => {
      sides[side] = state;
      show(send);
    })
      .catch(() => GONE)
      .then((gone) => show(() => {}, gone));
  }, []);
  return live;
}

/** Resolves with the reason when the lab has ended. */
async function listen(onChange: (change: SideChange) => void) {
  token ??= await tokenOfAnotherTab();
  const response = await post('changes', '');
  if (!response.ok || !response.body) {
    localStorage.removeItem(KEPT);
    return NO_TOKEN;
  }
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
