/** Shows one recording or two side by side, and transcripts from a file. */
import { useEffect } from 'preact/hooks';
import type { Conversation, Recording, Recordings } from '../../src/protocol.ts';
import { Choice } from './choice.tsx';
import { useRecorded } from './recorded.ts';
import type { Route } from './route.ts';
import { type Shown, type View, Viewer } from './viewer/viewer.tsx';

type CompareRoute = Extract<Route, { page: 'compare' }>;

interface CompareProps {
  readonly route: CompareRoute;
  readonly go: (route: Route) => void;
  readonly onShown: (recordings: readonly Recording[]) => void;
}

export function Compare({ route, go, onShown }: CompareProps) {
  const { values: [index] = [] } = useRecorded<Recordings>(['index']);
  const { values, problem } = useRecorded([route.left, route.right ?? []].flat());
  useEffect(() => onShown(values ?? []), [values]);
  const [left, right] = values ?? [];
  if (problem) return <Text problem={problem} />;
  if (!left) return <main class="text" aria-busy="true" />;
  const paneOf = (recording: Recording, side: 'left' | 'right'): Shown => ({
    conversation: recording.transcript,
    insides: recording.insides,
    head: (
      <Picker
        index={index}
        recording={recording}
        side={side}
        onPick={(id) => go({ ...route, [side]: id, view: { ...route.view, step: undefined } })}
      />
    ),
  });
  const sides = right
    ? ([paneOf(left, 'left'), paneOf(right, 'right')] as const)
    : ([paneOf(left, 'left')] as const);
  return (
    <main class="work">
      <Viewer sides={sides} view={route.view} onView={(view) => go({ ...route, view })} pauses />
    </main>
  );
}

interface PickerProps {
  readonly index: Recordings | undefined;
  readonly recording: Recording;
  readonly side: 'left' | 'right';
  readonly onPick: (id: string) => void;
}

function Picker({ index, recording, side, onPick }: PickerProps) {
  const [option = '', situation = ''] = recording.id.split('.');
  const about = Object.entries(index?.about ?? { [recording.id]: recording.about });
  const situations = Object.fromEntries(about.filter(([id]) => id.startsWith(`${option}.`)));
  const rows = index?.rows ?? [{ option, name: option.toUpperCase(), title: recording.transcript.title }];
  return (
    <div class="controls">
      <Choice
        class="shape"
        label={`Shape on the ${side}`}
        value={option}
        choices={Object.fromEntries(rows.map((row) => [row.option, `${row.name} · ${row.title}`]))}
        onChoice={(other) => onPick(`${other}.${situation}`)}
      />
      <Choice
        label={`Situation on the ${side}`}
        value={recording.id}
        choices={situations}
        onChoice={onPick}
      />
    </div>
  );
}

interface FileViewProps {
  readonly conversation?: Conversation;
  readonly problem?: string;
  readonly view: View;
  readonly onView: (view: View) => void;
}

export function FileView({ conversation, problem, view, onView }: FileViewProps) {
  const hint = 'Open a transcript: `pnpm demo option-g --json` prints one.';
  if (!conversation) return <Text problem={problem} hint={hint} />;
  const head = <h2>{conversation.title}</h2>;
  return (
    <main class="work">
      <Viewer sides={[{ conversation, insides: {}, head }]} view={view} onView={onView} />
    </main>
  );
}

/** A text instead of a conversation. */
function Text({ problem, hint }: { readonly problem: string | undefined; readonly hint?: string }) {
  return (
    <main class="text">
      <p class={problem ? 'warning' : 'lead'} role="alert">
        {problem ?? hint}
      </p>
    </main>
  );
}
