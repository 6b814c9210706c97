/** The author's file, with the lines that ran lit. */

import sources from 'virtual:sources';
import type { Lines, LinesRun } from '@mrtr/harness/transcript';
import { useEffect, useRef } from 'preact/hooks';
import 'virtual:sources.css';
import type { Ran } from './model.ts';

type Token = readonly [text: string, look: number];

/** The names of the files that ran, or undefined. */
export const filesIn = (...runs: readonly LinesRun[]): readonly string[] => [
  ...new Set(runs.flatMap((run) => Object.keys(run))),
];

interface SourceProps {
  readonly file: string | undefined;
  readonly ran: Ran;
  /** What the version that runs now has changed. */
  readonly deployed: string | undefined;
}

export function Source({ file, ran, deployed }: SourceProps) {
  const lines = file === undefined ? undefined : sources.files[file];
  const box = useRef<HTMLDivElement>(null);
  const now = (file && ran.now[file]) || {};
  const first = Object.keys(now)[0];
  useEffect(() => {
    const lit = box.current?.querySelector('.now');
    const { current } = box;
    if (!(lit instanceof HTMLElement) || !current) return;
    // The versions stay on top.
    const above = current.querySelector('.versions')?.clientHeight ?? 0;
    const top = lit.offsetTop - current.offsetTop;
    if (top < current.scrollTop + above || top > current.scrollTop + current.clientHeight - 60)
      current.scrollTop = top - 40 - above;
  }, [file, first, deployed]);
  if (file === undefined || !lines)
    return <p class="nothing">No source: this transcript names no file of an author that this page knows.</p>;
  const total = (line: number) =>
    [...ran.before, ran.now].reduce((sum, run) => sum + countOf(run[file]?.[line]), 0);
  return (
    <div class="source" ref={box} tabIndex={0} role="region" aria-label={`Source: ${file}`}>
      {file.startsWith('packages/matrix/src/deploy/') && <Versions deployed={deployed} />}
      <ol>
        {lines.map((tokens, at) => {
          const line = at + 1;
          const count = total(line);
          const isNow = countOf(now[line]) > 0;
          return (
            <li
              key={line}
              class={`${isNow ? 'now' : ''} ${count > 0 ? 'ran' : ''} ${count > 1 ? 'again' : ''}`}
            >
              <span class="count" title={count > 0 ? `ran ${count} times so far` : ''}>
                {count > 1 ? `${count}×` : ''}
              </span>
              <span class="number">{line}</span>
              <code>
                <Tokens tokens={tokens} run={isNow ? now[line] : undefined} />
              </code>
              {count > 0 && (
                <span class="unseen">
                  {isNow ? ' runs now,' : ' ran,'} {count} times so far
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** What the versions of the tool are made of: the lines of their code that list their steps. The last one runs. */
function Versions({ deployed }: Pick<SourceProps, 'deployed'>) {
  const names = ['const VERSION_1:', ...(deployed === undefined ? [] : [`${deployed}:`, `'${deployed}':`])];
  const lines = (sources.files['packages/matrix/src/deploy/code/code.ts'] ?? []).filter((tokens) =>
    names.some((name) => textOf(tokens).trimStart().startsWith(name)),
  );
  return (
    <div class="versions">
      {lines.map((tokens, at) => (
        <div key={at} class={at === lines.length - 1 ? 'runs' : 'gone'}>
          <b>
            version {at + 1}
            <span class="unseen">{at === lines.length - 1 ? ' runs' : ' is gone'}</span>
          </b>
          <code>
            <Tokens tokens={withoutIndent(tokens)} run={undefined} />
          </code>
        </div>
      ))}
    </div>
  );
}

const textOf = (tokens: readonly Token[]): string => tokens.map(([text]) => text).join('');

const withoutIndent = (tokens: readonly Token[]): readonly Token[] =>
  tokens.map(([text, look], at) => [at === 0 ? text.trimStart() : text, look]);

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

/** How often the busiest part of a line ran. */
const countOf = (run: Lines[string] | undefined): number =>
  typeof run === 'object' ? Math.max(...run.map(([, count]) => count)) : (run ?? 0);
