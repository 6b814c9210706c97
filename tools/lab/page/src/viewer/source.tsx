/** The author's file, with lit lines where code ran. */

import sources, { type Token } from 'virtual:sources';
import type { Lines } from '@mrtr/harness/transcript';
import { useEffect, useRef } from 'preact/hooks';
import 'virtual:sources.css';
import { marksOf, type Ran, type Stand } from './code.ts';
import type { Nameable } from './effects.ts';

interface SourceProps {
  readonly file: string;
  readonly own?: Nameable | undefined;
  readonly ran: Ran;
  readonly stand: Stand | undefined;
  readonly picked: number | undefined;
  /** The lines that broke a promise so far. */
  readonly broken: readonly number[];
  readonly onPick: (line: number) => void;
}

const STANDS = { runs: 'is here', asks: 'asks here', waits: 'waits here', left: 'ended here' } as const;

export function Source({ file, own, ran, stand, picked, broken, onPick }: SourceProps) {
  const lines = sources.files[file] ?? linesOf(file, own);
  const box = useRef<HTMLDivElement>(null);
  const here = stand?.file === file ? stand : undefined;
  useEffect(() => {
    const find = (look: string) => box.current?.querySelector(look);
    // A call that is over shows what went wrong.
    const wrong = here?.how === 'left' ? (find('.broken') ?? (own && find('.again'))) : undefined;
    const lit = wrong ?? find('.here');
    const panel = box.current?.parentElement;
    if (!(lit instanceof HTMLElement) || !panel) return;
    const top = lit.offsetTop - panel.offsetTop;
    if (top < panel.scrollTop || top > panel.scrollTop + panel.clientHeight - 60) panel.scrollTop = top - 40;
  }, [file, here?.line]);
  if (!lines)
    return <p class="nothing">No source: this transcript names no file of an author that this page knows.</p>;
  const drawn = lines.map((tokens, at) => ({ tokens, line: at + 1, ...marksOf(file, ran, at + 1) }));
  return (
    <div class="source" ref={box}>
      {drawn.some(({ count }) => count > 1) && (
        <p class="quiet">2×: the line ran in two entries of the handler. Turns of a loop are not counted.</p>
      )}
      {own && own.lines.length === 0 && ran.all.length > 0 && (
        <p class="quiet">Does a line write, pay or send? Press its number, and say so.</p>
      )}
      <ol>
        {drawn.map(({ tokens, line, isLit, run, count }) => {
          const how = here?.line === line ? here.how : undefined;
          const looks = [
            isLit && 'ran',
            count > 1 && 'again',
            broken.includes(line) && 'broken',
            how && `here ${how}`,
            picked === line && 'picked',
          ];
          return (
            <li key={line} class={looks.filter(Boolean).join(' ')}>
              <span class="count" title={count > 1 ? `ran in ${count} entries so far` : ''}>
                {count > 1 ? `${count}×` : ''}
              </span>
              {isLit ? (
                <button
                  type="button"
                  class="number"
                  aria-pressed={picked === line}
                  aria-label={`Line ${line}: show when it ran${count > 1 ? `; it ran in ${count} entries` : ''}`}
                  onClick={() => onPick(line)}
                >
                  {line}
                </button>
              ) : (
                <span class="number">{line}</span>
              )}
              {own && picked === line && (
                <button
                  type="button"
                  class="name"
                  aria-pressed={own.lines.includes(line)}
                  onClick={() => own.onName(line)}
                >
                  {own.lines.includes(line) ? 'no effect' : 'effect here'}
                </button>
              )}
              <code>
                <Tokens tokens={tokens} run={run} />
              </code>
              {own?.lines.includes(line) && <b class="stand">effect</b>}
              {how && <b class="stand">◀ {STANDS[how]}</b>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

const linesOf = (file: string, own: Nameable | undefined): readonly (readonly Token[])[] | undefined =>
  own?.file === file ? own.text.split('\n').map((text) => [[text, -1]]) : undefined;

interface TokensProps {
  readonly tokens: readonly Token[];
  readonly run: Lines[string] | undefined;
}

/** The tokens of a line. Parts that did not run are dim, even if the line ran. */
function Tokens({ tokens, run }: TokensProps) {
  const parts = typeof run === 'object' ? run : [];
  let column = 1;
  return (
    <>
      {tokens.flatMap(([text, look], at) => {
        const from = column;
        column += text.length;
        const cuts = parts.map(([cut]) => cut).filter((cut) => cut > from && cut < from + text.length);
        const starts = [from, ...cuts];
        return starts.map((start, index) => {
          const piece = text.slice(start - from, (starts[index + 1] ?? from + text.length) - from);
          const rests = parts.length > 0 && parts.findLast(([cut]) => cut <= start)?.[1] === 0;
          return (
            <span
              key={`${at}.${start}`}
              class={`t${look} ${rests ? 'rests' : ''}`}
              title={rests ? 'did not run the last time' : undefined}
            >
              {piece}
            </span>
          );
        });
      })}
    </>
  );
}
