/** The server that the lab was opened with: its tools, and the form of a call. */
import type { OwnTool, SideState } from '../../../src/protocol.ts';
import { CHOICES, OWN, type OwnCall, type SetUp, setUp } from '../../../src/set-up.ts';
import { Select } from '../select.tsx';
import type { SideProps } from './connection.ts';
import { Form } from './form.tsx';

const nameOf = ({ name, title, asks }: OwnTool) =>
  `${title === name ? name : `${title} (${name})`}${asks ? ' · asks' : ''}`;

interface ChooseProps extends SideProps {
  readonly onSetUp: (setUp: SetUp) => void;
}

/** The selects of a call of the own server: its tool, and the file that is shown. */
export function OwnChoices({ side, state: { own, setUp }, onSetUp }: ChooseProps) {
  if (!own || !setUp.own) return null;
  const change = (part: Partial<OwnCall>) =>
    setUp.own && onSetUp({ ...setUp, own: { ...setUp.own, ...part } });
  const files = [...new Set([own.source?.file ?? [], own.loaded].flat())];
  return (
    <>
      <Select
        label={`Tool on the ${side}`}
        value={setUp.own.tool}
        choices={Object.fromEntries(own.tools.map((tool) => [tool.name, nameOf(tool)]))}
        onChoice={(tool) => change({ tool, arguments: {} })}
      />
      {files.length > 1 && (
        <span>
          File{' '}
          <Select
            label={`File on the ${side}`}
            title="The file whose lines are shown. Another one starts the server again."
            value={own.source?.file ?? ''}
            choices={Object.fromEntries(files.map((file) => [file, file]))}
            onChoice={(source) => change({ source })}
          />
        </span>
      )}
    </>
  );
}

/** The form of the tool's arguments. Its button makes the call. */
export function OwnCallForm({ side, state, send }: SideProps) {
  const { own, setUp, doing } = state;
  const tool = own?.tools.find(({ name }) => name === setUp.own?.tool);
  if (!own || !setUp.own || !tool) return null;
  const { source, arguments: given } = setUp.own;
  return (
    <>
      {tool.description && <p class="about">{tool.description}</p>}
      <Form
        key={tool.name}
        label={`Call ${tool.name} on the ${side}`}
        schema={tool.schema}
        given={given}
        submit={`Call ${tool.name}`}
        disabled={doing !== 'ready' && doing !== 'over'}
        onSubmit={(content) => {
          send({ do: 'call', side, own: { tool: tool.name, arguments: content as never, source } });
        }}
      />
    </>
  );
}

/** The latest call of a side. Another side has loaded no file yet that it could show. */
const callOf = ({ setUp: { own } }: SideState) => own && { ...own, source: undefined };

/** What stands beside the own server: nothing, itself with an old client, or one of our options. */
export function Beside({ left, state, send }: Omit<SideProps, 'side'> & { readonly left: SideState }) {
  const { offered, own, setUp: shown, doing } = state;
  const options = offered.filter(({ needsPostgres }) => !needsPostgres);
  const current = doing === 'off' ? 'nothing' : shown.option;
  return (
    <div class="line beside">
      <Select<string>
        label="Beside it"
        value={current}
        choices={{
          nothing: 'Beside it: nothing',
          [OWN]: `the same, with an ${CHOICES.client.legacy}`,
          ...Object.fromEntries(options.map(({ id, name, title }) => [id, `${name} · ${title}`])),
        }}
        onChoice={(choice) => {
          if (choice === 'nothing') return send({ do: 'close', side: 'right' });
          const next =
            choice === OWN
              ? { ...left.setUp, option: OWN, client: 'legacy' as const, own: callOf(left) }
              : setUp(choice, { instances: 'one' });
          send({ do: 'set-up', side: 'right', setUp: next });
        }}
      />
      <span class="quiet">{own?.server}</span>
    </div>
  );
}
