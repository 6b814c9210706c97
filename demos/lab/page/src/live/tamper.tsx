/** The tamper editor: the latest state as bytes. What is written here goes out with the next retry. */
import { useEffect, useState } from 'preact/hooks';
import type { Command, SideName, SideState } from '../../../src/protocol.ts';
import { statesIn } from '../viewer/panels.tsx';

interface TamperProps {
  readonly side: SideName;
  readonly state: SideState;
  readonly other: SideState;
  readonly send: (command: Command) => void;
}

export function Tamper({ side, state, other, send }: TamperProps) {
  const { fault, conversation, insides, asked } = state;
  const states = statesIn(conversation.events);
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
    <section class="tamper" aria-label="Tamper editor">
      <h4>
        {fault.state === undefined && 'Change it on its fault'}
        {fault.state !== undefined && <span class="armed">The next retry brings this:</span>}
      </h4>
      {insides[latest]?.sealed ? (
        <Bytes key={latest} original={latest} current={current} onChange={present} />
      ) : (
        <Plain key={latest} current={current} onChange={present} />
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

/** A state that is not sealed is a text that anybody may write. */
function Plain({ current, onChange }: Omit<BytesProps, 'original'>) {
  const [text, setText] = useState(current);
  // What a button below changes stands here: it is what goes out.
  useEffect(() => setText(current), [current]);
  return (
    <>
      <textarea
        aria-label="The state, as text"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="line">
        <button type="button" class="button primary" onClick={() => onChange(text)}>
          Present this text
        </button>
      </div>
    </>
  );
}

interface BytesProps {
  readonly original: string;
  readonly current: string;
  readonly onChange: (state: string) => void;
}

/** The bytes of a sealed state: which key, the nonce, what is encrypted, the tag. A press flips a bit. */
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

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

const PREFIX = 'v1.';

/** The sealed part and what follows it in the clear. */
function partsOf(state: string): readonly [sealed: string, label: string] {
  const text = state.startsWith(PREFIX) ? state.slice(PREFIX.length) : state;
  const at = text.indexOf('~');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

function bytesOf(state: string): Uint8Array {
  const [sealed] = partsOf(state);
  try {
    const binary = atob(sealed.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return new TextEncoder().encode(state);
  }
}

function flipBit(state: string, at: number): string {
  if (!state.startsWith(PREFIX)) {
    const code = state.charCodeAt(at) ^ 1;
    return state.slice(0, at) + String.fromCharCode(code) + state.slice(at + 1);
  }
  const bytes = bytesOf(state);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return PREFIX + text + partsOf(state)[1];
}
