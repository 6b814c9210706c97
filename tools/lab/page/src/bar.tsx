/** The bar at the top: pages, copies and files. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TranscriptSoFar } from '../../src/protocol.ts';
import { SIDES } from '../../src/set-up.ts';
import { COPIES, linkWith, type Origin } from './copy.ts';
import type { Live } from './live/connection.ts';
import type { Route } from './route.ts';

export interface OnPage extends Origin {
  readonly conversation: TranscriptSoFar;
}

/** The links, each with the pages that it stands for. */
const LINKS: readonly (readonly [href: string, title: string, ...pages: Route['page'][]])[] = [
  ['#/', 'Start', 'front'],
  ['#/lessons', 'Lessons', 'lessons'],
  ['#/live', 'Live', 'live'],
  ['#/measured', 'Measured', 'measured', 'compare'],
];

interface BarProps {
  readonly route: Route;
  readonly shown: readonly OnPage[];
  readonly live: Live;
  readonly link: string;
  readonly onFile: (file: Blob | undefined) => void;
}

export function Bar({ route, shown, live, link, onFile }: BarProps) {
  const file = useRef<HTMLInputElement>(null);
  return (
    <header class="bar">
      <h1>
        The lab <small>mrtr-shapes</small>
      </h1>
      <nav aria-label="Pages">
        {LINKS.map(([href, title, ...pages]) => (
          <a key={href} href={href} aria-current={pages.includes(route.page) ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="right">
        {route.page === 'live' && live.kind === 'open' && (
          <>
            <span class="badge live">{live.gone ? 'was live' : 'live processes'}</span>
            {live.sides.right.doing !== 'off' && (
              <button
                type="button"
                class="button primary"
                disabled={live.gone !== undefined}
                onClick={() => {
                  for (const side of SIDES) live.send({ do: 'call', side });
                }}
              >
                Make both calls
              </button>
            )}
          </>
        )}
        {route.page === 'compare' && <span class="badge">recorded</span>}
        <button type="button" class="button" onClick={() => file.current?.click()}>
          Open a transcript
        </button>
        <input
          ref={file}
          type="file"
          accept=".json,application/json"
          hidden
          onChange={({ currentTarget: input }) => {
            onFile(input.files?.[0]);
            // Lets the user choose the same file again.
            input.value = '';
          }}
        />
        {shown.length > 0 && <CopyMenu shown={shown} link={link} />}
      </div>
    </header>
  );
}

/** The menu opens as a popover of the browser's. */
const SHEET = 'copies';

function CopyMenu({ shown, link }: { readonly shown: readonly OnPage[]; readonly link: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(''), 2500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (what: string, text: string | (() => Promise<string>)) => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
      setSaid(`Copied: ${what}`);
    } catch (error) {
      setSaid(`Nothing was copied. ${(error as Error).message}`);
    }
  };
  const entry = (title: string, text: Parameters<typeof copy>[1] | undefined) =>
    text !== undefined && (
      <button
        key={title}
        type="button"
        popovertarget={SHEET}
        popovertargetaction="hide"
        onClick={() => copy(title, text)}
      >
        {title}
      </button>
    );
  return (
    <>
      <button type="button" class="button" popovertarget={SHEET}>
        Copy
      </button>
      <div class="sheet" id={SHEET} popover="auto">
        {/* A link has no server of the user's own. */}
        {shown.every(({ server }) => server === undefined) && entry('Link to this', link)}
        {shown.map(({ conversation, ...origin }, at) => (
          <div key={at}>
            <h3>
              {shown.length > 1 && `${at === 0 ? 'Left' : 'Right'}: `}
              {conversation.title}
            </h3>
            {entry('Link with its transcript', () => linkWith(conversation))}
            {COPIES.map(([title, textOf]) => entry(title, textOf(conversation, origin)))}
          </div>
        ))}
      </div>
      {said && (
        <div class="toast" role="status">
          {said}
        </div>
      )}
    </>
  );
}
