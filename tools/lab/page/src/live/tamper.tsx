/** The tamper editor shows the latest state as bytes. The next retry sends the edited state. */
import type { SideState } from '../../../src/protocol.ts';
import { bytesOf, flipBit, statesIn } from '../../../src/states.ts';
import type { SideProps } from './connection.ts';

export function Tamper({ side, state, other, send }: SideProps & { readonly other: SideState }) {
  const { fault, conversation, insides, asked } = state;
  const states = [...new Set(statesIn(conversation.events))];
  const latest = states.at(-1);
  if (latest === undefined) return null;
  const present = (changed: string) =>
    send({ do: 'fault', side, fault: { ...fault, state: changed === latest ? undefined : changed } });
  const changes: readonly (readonly [words: string, changed: string | undefined])[] = [
    ['Flip a bit', flipBit(latest, Math.floor(bytesOf(latest).length / 2))],
    ['Cut it', latest.slice(0, -12)],
    ["Swap with the other side's", statesIn(other.conversation.events).at(-1)],
    ["Present the round before's", states.at(-2)],
    ['Leave it as it was', fault.state === undefined ? undefined : latest],
  ];
  const current = fault.state ?? latest;
  return (
    <section class="tamper" aria-label={`Tamper editor on the ${side}`}>
      <h4>
        {fault.state === undefined ? (
          'Change it on its way'
        ) : (
          <span class="armed">The next retry brings this:</span>
        )}
      </h4>
      {insides[latest]?.sealed ? (
        <Bytes key={latest} original={latest} current={current} onChange={present} />
      ) : (
        <Plain current={current} onChange={present} />
      )}
      <div class="line foot-line">
        {changes.map(([words, changed]) => (
          <button
            key={words}
            type="button"
            class="button"
            disabled={changed === undefined}
            onClick={() => changed !== undefined && present(changed)}
          >
            {words}
          </button>
        ))}
      </div>
      {!asked && <p class="quiet">It goes out with the next retry: while a question is open.</p>}
    </section>
  );
}

/** The editor of an unsealed state: a plain text. */
const Plain = ({ current, onChange }: Omit<BytesProps, 'original'>) => (
  <form
    onSubmit={(event) => {
      event.preventDefault();
      onChange(String(new FormData(event.currentTarget).get('state')));
    }}
  >
    {/* Shows what is sent, also after the buttons below have changed it. */}
    <textarea key={current} name="state" aria-label="The state, as text" defaultValue={current} />
    <div class="line">
      <button type="submit" class="button primary">
        Present this text
      </button>
    </div>
  </form>
);

interface BytesProps {
  readonly original: string;
  readonly current: string;
  readonly onChange: (state: string) => void;
}

/** The bytes of a sealed state: key id, nonce, ciphertext and tag. A press flips a bit. */
function Bytes({ original, current, onChange }: BytesProps) {
  const before = bytesOf(original);
  const now = bytesOf(current);
  const region = (at: number) =>
    at < 2 ? 'key' : at < 14 ? 'nonce' : at < before.length - 16 ? 'encrypted' : 'tag';
  return (
    <div class="bytes" role="group" aria-label="Bytes; press one to flip a bit of it">
      {[...now].map((byte, at) => (
        <button
          key={at}
          type="button"
          class={`${region(at)} ${before[at] === byte ? '' : 'flipped'}`}
          aria-label={`byte ${at}, ${region(at)}: ${hex(byte)}`}
          title={`byte ${at} · ${region(at)}`}
          onClick={() => onChange(flipBit(current, at))}
        >
          {hex(byte)}
        </button>
      ))}
    </div>
  );
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0');
