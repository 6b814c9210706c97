/** The marks seen since the page was opened. */
import { useEffect, useState } from 'preact/hooks';
import type { SideName, SideState } from '../../../src/protocol.ts';
import { MARKS, readCall } from './marks.ts';

let kept: readonly string[] = [];
const watchers = new Set<() => void>();

export const isMet = (lesson: string, mark: string): boolean => kept.includes(`${lesson}.${mark}`);

export const isSolved = (id: string): boolean =>
  (MARKS[id] ?? []).length > 0 && (MARKS[id] ?? []).every(([mark]) => isMet(id, mark));

/** Ticks off the marks that an ended call fulfils. */
export function meet(lesson: string, seen: ReturnType<typeof readCall>): void {
  const more = (MARKS[lesson] ?? []).filter(([mark, , meets]) => !isMet(lesson, mark) && meets(seen));
  if (more.length === 0) return;
  kept = [...kept, ...more.map(([mark]) => `${lesson}.${mark}`)];
  for (const redraw of watchers) redraw();
}

/** Redraws when another mark is ticked off. */
export function useKept(): void {
  const [, redraw] = useState(0);
  useEffect(() => {
    const watcher = () => redraw((count) => count + 1);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
}

/** Ticks off the marks of live calls that have ended. */
export function useProgress(lesson: string, { left, right }: Readonly<Record<SideName, SideState>>): void {
  useKept();
  useEffect(() => {
    for (const { setUp, conversation } of [left, right])
      if (conversation.end) meet(lesson, readCall(setUp, conversation));
  }, [lesson, left.conversation, right.conversation]);
}
