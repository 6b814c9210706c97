/** A transcript that was opened from a file. */
import type { Conversation } from '../../src/protocol.ts';
import { type View, Viewer } from './viewer/viewer.tsx';

interface FileViewProps {
  readonly conversation?: Conversation;
  readonly problem?: string;
  readonly view: View;
  readonly onView: (view: View) => void;
}

export function FileView({ conversation, problem, view, onView }: FileViewProps) {
  if (!conversation) {
    return (
      <main class="text">
        <p class={problem ? 'warning' : 'lead'} role="alert">
          {problem ?? 'Open a transcript: `pnpm demo option-g --json` prints one.'}
        </p>
      </main>
    );
  }
  const head = <h2>{conversation.title}</h2>;
  return (
    <main class="work">
      <Viewer sides={[{ conversation, insides: {}, head }]} view={view} onView={onView} />
    </main>
  );
}
