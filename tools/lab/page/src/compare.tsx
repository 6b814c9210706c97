/** Shows one recording or two side by side, and transcripts from a file. */
import type { Recording, Recordings, TranscriptSoFar } from '../../src/protocol.ts';
import { SIDES } from '../../src/set-up.ts';
import { type Loaded, useRecorded } from './recorded.ts';
import { type PageProps, viewing } from './route.ts';
import { Select } from './select.tsx';
import { SHAPES } from './shapes.ts';
import { type Shown, Viewer } from './viewer/viewer.tsx';

interface CompareProps extends PageProps {
  readonly recordings: Loaded<Recording>;
}

export function Compare({ route, go, recordings: { values = [], problem } }: CompareProps) {
  const { values: [index] = [] } = useRecorded<Recordings>(['index']);
  if (problem) return <Text problem={problem} />;
  const sides = values.map(({ id, about, transcript, insides }, at): Shown => {
    const side = SIDES[at] ?? 'left';
    const pick = (id: string) =>
      go({ ...route, parts: route.parts.with(at, id), view: { ...route.view, step: undefined } });
    const [option = '', situation = ''] = id.split('.');
    const known = Object.entries(index?.about ?? { [id]: about });
    const situations = known.filter(([one]) => one.startsWith(`${option}.`));
    const rows = index?.rows ?? [{ option, name: option.toUpperCase(), title: transcript.title }];
    const head = (
      <div class="controls">
        <Select
          class="shape"
          label={`Shape on the ${side}`}
          value={option}
          choices={Object.fromEntries(rows.map((row) => [row.option, `${row.name} · ${row.title}`]))}
          onChoice={(other) => pick(`${other}.${situation}`)}
        />
        <Select
          label={`Situation on the ${side}`}
          value={id}
          choices={Object.fromEntries(situations)}
          onChoice={pick}
        />
        <span class="about">{SHAPES[option]}</span>
      </div>
    );
    return { conversation: transcript, insides, head };
  });
  if (sides.length === 0) return <main class="text" aria-busy="true" />;
  return (
    <main class="work">
      <Viewer sides={sides} {...viewing({ route, go })} pauses />
    </main>
  );
}

/** A transcript from a file or a link. */
export interface OpenedFile {
  readonly conversation?: TranscriptSoFar;
  readonly problem?: string;
}

const HINT = 'Drop a transcript here: `pnpm demo --server … --save FILE` writes one.';

export function FileView({ conversation, problem, ...page }: OpenedFile & PageProps) {
  if (!conversation) return <Text problem={problem} hint={HINT} />;
  const head = <h2>{conversation.title}</h2>;
  return (
    <main class="work">
      <Viewer sides={[{ conversation, insides: {}, head }]} {...viewing(page)} />
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
