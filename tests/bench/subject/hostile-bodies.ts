/** Requests of one MiB that are made to keep a server busy: what is in them, and where it stands. */

const MIB = 1_048_576;

/** JSON of about `bytes`, made of as many `part`s as fit between `open` and `close`. */
const filled = (
  bytes: number,
  open: string,
  part: (n: number) => string,
  close: string,
  between = ',',
  most = Number.POSITIVE_INFINITY,
): string => {
  const parts: string[] = [];
  let room = bytes - open.length - close.length;
  for (let n = 0; n < most; n++) {
    const next = part(n);
    room -= next.length + between.length;
    if (room < 0) break;
    parts.push(next);
  }
  return open + parts.join(between) + close;
};

/** JSON of about `bytes` in `count` parts, made with keys that are as long as it takes. */
function padded(bytes: number, count: number, part: (key: string) => string, open: string, close: string) {
  const length = Math.max(1, Math.floor((bytes - open.length - close.length) / count) - 1 - part('').length);
  return filled(bytes, open, (n) => part(String(n).padStart(length, 'k')), close, ',', count);
}

/** JSON values, by what is bad about them. */
const VALUES: Readonly<Record<string, (bytes: number) => string>> = {
  'many numbers': (bytes) => filled(bytes, '{"x":[', () => '0', ']}'),
  'many empty objects': (bytes) => filled(bytes, '{"x":[', () => '{}', ']}'),
  'many empty arrays': (bytes) => filled(bytes, '{"x":[', () => '[]', ']}'),
  'many objects with a member': (bytes) => filled(bytes, '{"x":[', () => '{"a":0}', ']}'),
  'many keys': (bytes) => filled(bytes, '{', (n) => `"${n.toString(36)}":0`, '}'),
  'many keys that are numbers': (bytes) => filled(bytes, '{', (n) => `"${n * 7919}":0`, '}'),
  'many empty strings': (bytes) => filled(bytes, '{"x":[', () => '""', ']}'),
  'one key again and again': (bytes) => filled(bytes, '{', () => '"a":0', '}'),
  'as many keys as are let in': (bytes) => padded(bytes, 9900, (key) => `"${key}":0`, '{', '}'),
  'as many objects as are let in': (bytes) => padded(bytes, 4900, (key) => `{"${key}":0}`, '{"x":[', ']}'),
  'as many strings as are let in': (bytes) => padded(bytes, 9900, (key) => `"${key}"`, '{"x":[', ']}'),
  '950 keys': (bytes) => padded(bytes, 950, (key) => `"${key}":0`, '{', '}'),
  'deep arrays': (bytes) => `{"x":${'['.repeat(bytes / 2 - 4)}${']'.repeat(bytes / 2 - 4)}}`,
  'deep objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}0${'}'.repeat(bytes / 6)}`,
  'one long string': (bytes) => `{"x":"${'x'.repeat(bytes - 8)}"}`,
  'one long string of escapes': (bytes) => `{"x":"${'\\u0041'.repeat(bytes / 6 - 2)}"}`,
  'one long string of quotes': (bytes) => `{"x":"${'\\"'.repeat(bytes / 2 - 4)}"}`,
  'one long key': (bytes) => `{"${'x'.repeat(bytes - 8)}":0}`,
  'one long number': (bytes) => `{"x":${'9'.repeat(bytes - 8)}}`,
  spaces: (bytes) => `{"x":${' '.repeat(bytes - 8)}0}`,
  'no JSON': (bytes) => ','.repeat(bytes),
};

const ENVELOPE =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}';

interface Place {
  /** Whether clients at 2025-11-25 send it. */
  readonly old: boolean;
  /** The most bytes that are let in there. */
  readonly most?: number;
  readonly message: (value: string) => string;
}

/** Where a value stands in a message. The rest of the message is as it should be. */
const PLACES: Readonly<Record<string, Place>> = {
  arguments: {
    old: false,
    message: (value) => modern(`"arguments":${value},"_meta":{${ENVELOPE}}`),
  },
  inputResponses: {
    old: false,
    message: (value) =>
      modern(`"arguments":{"location":"Tokyo"},"inputResponses":${value},"_meta":{${ENVELOPE}}`),
  },
  "one answer's content": {
    old: false,
    message: (value) =>
      modern(
        `"arguments":{"location":"Tokyo"},"inputResponses":{"units":{"action":"accept","content":${value}}},"_meta":{${ENVELOPE}}`,
      ),
  },
  _meta: {
    old: false,
    message: (value) => modern(`"arguments":{"location":"Tokyo"},"_meta":{${ENVELOPE},"x":${value}}`),
  },
  'client capabilities': {
    old: false,
    message: (value) =>
      modern(
        `"arguments":{"location":"Tokyo"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"experimental":${value}}}`,
      ),
  },
  'the message': {
    old: false,
    message: (value) => `{"jsonrpc":"2.0","id":1,"method":"tools/call",${value.slice(1)}`,
  },
  'an old initialize': {
    old: true,
    message: (value) =>
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":${value}},"clientInfo":{"name":"x","version":"1"}}}`,
  },
  'an old initialize of 64 KiB': {
    old: true,
    most: 65_536,
    message: (value) =>
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":${value}},"clientInfo":{"name":"x","version":"1"}}}`,
  },
  'an old call': {
    old: true,
    message: (value) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather","arguments":${value}}}`,
  },
  'an old answer': { old: true, message: (value) => `{"jsonrpc":"2.0","id":1,"result":${value}}` },
  'an old notification': {
    old: true,
    message: (value) =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"x":${value}}}`,
  },
};

const modern = (params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather",${params}}}`;

/** A body and where it goes. */
export interface HostileBody {
  readonly what: string;
  readonly where: string;
  readonly old: boolean;
  readonly body: string;
}

/** Every value in every place, in bodies of at most `bytes`. */
export function* hostileBodies(bytes = MIB): Generator<HostileBody> {
  for (const [where, { old, message, most = bytes }] of Object.entries(PLACES)) {
    const room = Math.floor((Math.min(bytes, most) - message('{}').length) / 12) * 12;
    for (const [what, value] of Object.entries(VALUES))
      yield { what, where, old, body: message(value(room)) };
  }
}
