/** The author's file, with the lines that ran lit. */

import sources from 'virtual:sources';
import type { Lines, LinesRun } from '@mrtr/harness/transcript';
import { useEffect, useRef } from 'preact/hooks';
import 'virtual:sources.css';
import { marksOf, type Ran } from './model.ts';

type Token = readonly [text: string, look: number];

export const filesIn = (...runs: readonly LinesRun[]): readonly string[] => [
  ...new Set(runs.flatMap((run) => Object.keys(run))),
];

interface SourceProps {
  readonly file: string | undefined;
  readonly ran: Ran;
}

export function Source({ file, ran }: SourceProps) {
  const lines = file === undefined ? undefined : sources.files[file];
  const box = useRef<HTMLDivElement>(null);
  const first = file && ran.now.flatMap((run) => Object.keys(run[file] ?? {}))[0];
  useEffect(() => {
    const lit = box.current?.querySelector('.now');
    const { current } = box;
    if (!(lit instanceof HTMLElement) || !current) return;
    const top = lit.offsetTop - current.offsetTop;
    if (top < current.scrollTop || top > current.scrollTop + current.clientHeight - 60)
      current.scrollTop = top - 40;
  }, [file, first]);
  if (file === undefined || !lines)
    return <p class="nothing">No source: this transcript names no file of an author that this page knows.</p>;
  return (
    <div class="source" ref={box} tabIndex={0} role="region" aria-label={`Source: ${file}`}>
      <ol>
        {lines.map((tokens, at) => {
          const line = at + 1;
          const { isNow, isLit, run, count } = marksOf(file, ran, line);
          return (
            <li key={line} class={`${isNow ? 'now' : ''} ${isLit ? 'ran' : ''} ${count > 1 ? 'again' : ''}`}>
              <span class="count" title={count > 1 ? `ran in ${count} entries so far` : ''}>
                {count > 1 ? `${count}×` : ''}
              </span>
              <span class="number">{line}</span>
              <code>
                <Tokens tokens={tokens} run={isNow ? run : undefined} />
              </code>
              {isLit && (
                <span class="unseen">
                  {isNow ? ' runs now' : ' ran'}
                  {count > 1 && `, in ${count} entries so far`}
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** The tokens of a line; the parts of it that did not run, though the line did, are dim. */
function Tokens({
  tokens,
  run,
}: {
  readonly tokens: readonly Token[];
  readonly run: Lines[string] | undefined;
}) {
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
            <span key={`${at}.${start}`} class={`t${look} ${rests ? 'rests' : ''}`}>
              {piece}
            </span>
          );
        });
      })}
    </>
  );
}
