/** What has been solved: kept in this browser, and nowhere else. */
import { useEffect, useState } from 'preact/hooks';
import type { SideName, SideState } from '../../../src/protocol.ts';
import { LESSONS, readCall } from './lessons.ts';

const KEPT = 'mrtr-lab-lessons';

const read = (): readonly string[] => {
  try {
    const stored = JSON.parse(localStorage.getItem(KEPT) ?? '[]') as unknown;
    return Array.isArray(stored) ? stored.map(String) : [];
  } catch {
    return [];
  }
};

let kept: readonly string[] = read();

export const isMet = (lesson: string, mark: string): boolean => kept.includes(`${lesson}.${mark}`);

export function isSolved(id: string): boolean {
  const lesson = LESSONS.find((one) => one.id === id);
  return lesson !== undefined && lesson.marks.length > 0 && lesson.marks.every(([mark]) => isMet(id, mark));
}

/** Looks at calls that have ended, and ticks off what they meet. */
export function useProgress(lesson: string, sides: Readonly<Record<SideName, SideState>>): void {
  const [, redraw] = useState(0);
  const { left, right } = sides;
  useEffect(() => {
    const marks = LESSONS.find(({ id }) => id === lesson)?.marks ?? [];
    const more = marks.filter(
      ([id, , met]) =>
        !isMet(lesson, id) && [left, right].some((side) => side.conversation.end && met(readCall(side))),
    );
    if (more.length === 0) return;
    kept = [...kept, ...more.map(([id]) => `${lesson}.${id}`)];
    try {
      localStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // A browser that keeps nothing forgets it.
    }
    redraw((count) => count + 1);
  }, [lesson, left.conversation, right.conversation]);
}
