/** A call on a side of the lab, by a real client whose user is a person at the page. */
import { toolCall, withWorld } from '@mrtr/comparison/calls';
import { findOption } from '@mrtr/comparison/options';
import { converse, type Hosting, type Reply, type ShownQuestion, type User } from '@mrtr/harness';
import { participantsOf, type Recorder } from '@mrtr/harness/internal';
import type { Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import type { Asked, SideState, TranscriptSoFar } from './protocol.ts';
import { type InstanceId, OWN, type OwnCall, type SetUp } from './set-up.ts';

/** What a set-up calls. */
interface Called {
  readonly setUp: SetUp;
  readonly call: OwnCall;
  readonly instances: readonly InstanceId[];
}

interface Making extends Called {
  readonly host: (recorder: Recorder) => Promise<Hosting>;
  /** Called with each event. */
  readonly changed: () => void;
  readonly became: (doing: SideState['doing']) => void;
  readonly onAsk: () => void;
  /** Ends the server. */
  readonly close: () => Promise<void>;
}

/** A server that goes on after so many events is killed. */
const MAX_EVENTS = 2000;
const ABANDON_MS = 3000;

export type Call = ReturnType<typeof startCall>;

export function startCall({ host, changed, became, onAsk, close, ...called }: Making) {
  const events: TranscriptEvent[] = [];
  let end: Transcript['end'] | undefined;
  let asked: Asked | undefined;
  let settle: (reply: Reply) => void = () => {};
  let isAbandoned = false;
  /** Whether a program has answered every question. */
  let isAgent: boolean | undefined;

  function ask({ message, requestedSchema }: ShownQuestion): Promise<Reply> {
    if (isAbandoned) return Promise.resolve({ action: 'cancel' });
    onAsk();
    const id = events.filter(({ kind }) => kind === 'question').length;
    return new Promise((resolve) => {
      asked = { id, message, schema: requestedSchema };
      settle = resolve;
      became('asked');
    });
  }

  function onEvent(event: TranscriptEvent) {
    if (events.length === MAX_EVENTS) void close();
    if (events.length > MAX_EVENTS) return;
    events.push(event);
    changed();
  }

  const user = Object.assign(ask, { maySayNothing: true });
  const done = converse({ ...requestOf(called, user), onEvent }, host)
    // Its instance may end before it serves the call.
    .catch(({ message }: Error) => ({ end: { error: { message } } }))
    .then((over) => {
      end = over.end;
      asked = undefined;
      became('over');
    });
  return {
    get conversation(): TranscriptSoFar {
      return { ...emptyConversation(called, isAgent), events, ...(end && { end }) };
    },
    get asked() {
      return asked;
    },
    /** Answers the open question, as a person or as a program in a person's place. */
    answer(reply: Reply, isProgram: boolean) {
      asked = undefined;
      isAgent = isProgram && isAgent !== false;
      became('calling');
      settle(reply);
    },
    /** Cancels the open question, and every later one. */
    async abandon() {
      isAbandoned = true;
      settle({ action: 'cancel' });
      asked = undefined;
      // If cancelling does not end the call, because its instance hangs, end its instances.
      const hangs = setTimeout(close, ABANDON_MS);
      await done;
      clearTimeout(hangs);
    },
  };
}

const requestOf = ({ setUp: { client }, call }: Called, user: User) =>
  ({
    client: client === 'legacy' ? 'legacy' : 'modern',
    call: toolCall(call.tool, call.arguments),
    ...(client !== 'unaskable' && { user }),
  }) as const;

/** The conversation of a call that has not begun. */
export function emptyConversation(called: Called, isAgent = false): TranscriptSoFar {
  const { setUp, instances } = called;
  const listed = findOption(setUp.option);
  const title = listed ? `${listed.name} · ${listed.title}` : (setUp.own?.tool ?? '');
  const request = requestOf(
    called,
    Object.assign(() => 'silence' as const, { isAgent }),
  );
  const participants = participantsOf(request, request.client, instances);
  const empty = { format: 'mrtr-transcript', version: 1, title, participants, events: [] } as const;
  // The effects of the user's own server are not seen.
  return setUp.option === OWN ? empty : withWorld(empty);
}
