/** The marks seen since the page was opened. */
import { useEffect, useState } from 'preact/hooks';
import { MARKS, type Mark, type SeenCall } from './marks.ts';

const kept = new Set<Mark>();
const watchers = new Set<() => void>();

export const isMet = (mark: Mark) => kept.has(mark);

/** The marks of a lesson. */
export const marksOf = (lesson: string): readonly Mark[] => MARKS[lesson] ?? [];

export const isSolved = (lesson: string) => marksOf(lesson).every(isMet);

/** Ticks off the marks that an ended call fulfils. */
export function meet(lesson: string, seen: SeenCall) {
  const more = marksOf(lesson).filter((mark) => !isMet(mark) && mark[1](seen));
  if (more.length === 0) return;
  for (const mark of more) kept.add(mark);
  for (const redraw of watchers) redraw();
}

/** Redraws when another mark is ticked off. */
export function useKept() {
  const [, redraw] = useState({});
  useEffect(() => {
    const watcher = () => redraw({});
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
}
