/** Checks docs/security.md and docs/limits.md: the named tests exist, and the limits are right. */
import { expect, test } from 'vitest';
import { MEMORY_LEDGER_LIMITS } from '../../packages/core/src/admission/ledger.ts';
import { DEFAULT_LIMITS, FIXED_LIMITS, TIME_DEFAULTS } from '../../packages/core/src/admission/policy.ts';
import { ownLimit } from '../../packages/core/src/options.ts';
import { MAX_UNFIT } from '../../packages/core/src/questions/unfit-answer.ts';
import { MAX_DEPTH } from '../../packages/core/src/wire/canonical-json.ts';
import {
  BODY_SECONDS,
  MAX_DECLARED_MEMBERS,
  MAX_INITIALIZE_BYTES,
  MEMBERS_PER_MIB,
} from '../../packages/hosting/src/body.ts';
import { MAX_PIPELINED, SEND_SECONDS } from '../../packages/hosting/src/connections.ts';
import { MOUNT_LIMITS } from '../../packages/hosting/src/limits.ts';
import { MAX_PAGES, PAGE_BODY_LIMITS } from '../../packages/hosting/src/pages.ts';
import { IDLE_SECONDS, MAX_SESSION_BYTES } from '../../packages/hosting/src/sessions.ts';
import { MAX_STREAM_BYTES } from '../../packages/hosting/src/unread-bytes.ts';
import {
  DEFAULTS as DURABLE_DEFAULTS,
  LIMITS as DURABLE_LIMITS,
  TIMES,
} from '../../packages/linear-dbos/src/options.ts';
import { MEMORY_ENTRIES } from '../../packages/pages/src/memory-interactions.ts';
import { PAGE_DEFAULTS } from '../../packages/pages/src/pending-interactions.ts';
import { MAX_RECORD_BYTES } from '../../packages/pages/src/records.ts';
import { RESUME_SECONDS } from '../../packages/pages/src/same-call.ts';
import { interactionLimits } from '../../packages/pages/src/store.ts';
import {
  DEFAULT_LIMITS as FRAME_LIMITS,
  MOST_ABANDONED,
  TTL_SECONDS,
} from '../../packages/shapes/src/linear/continuation-store.ts';
import { projectFiles, textOf } from '../testkit/project-files.ts';
import { MAX_LINE_BYTES } from '../testkit/stdio-limit.ts';

const DOCUMENT = ['docs/security.md', 'docs/limits.md'].map((path) => textOf(path)).join('');

/** The tests of each guarantee, of a section and of the limits: parts of their titles, by file. */
const WITNESSES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = JSON.parse(
  textOf('tests/security/witnesses.json'),
);
const witnesses = Object.values(WITNESSES).flatMap((named) =>
  Object.entries(named).flatMap(([file, phrases]) => phrases.map((phrase) => [phrase, file] as const)),
);

test('every guarantee names its tests', () => {
  const guarantees = [...DOCUMENT.matchAll(/^\d+\. \*\*([\s\S]+?)\*\*/gm)].map(([, title = '']) =>
    title.replace(/\s+/g, ' '),
  );
  const sections = [...DOCUMENT.matchAll(/^##? (.+)$/gm)].map(([, title]) => title);
  expect(guarantees).toHaveLength(19);
  const named = Object.keys(WITNESSES);
  expect(named.filter((title) => !sections.includes(title))).toEqual(guarantees);
  for (const title of named) expect(Object.values(WITNESSES[title] ?? {}).flat(), title).not.toEqual([]);
});

/**
 * Finds a test's title: after `test(` or the `)(` of a table, at the start of a table's row, or as a contract's method.
 */
const TITLE =
  /(?:\b(?:test|it|describe)(?:\.\w+)*\(|\)\(|^ +\[|^ +async )\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm;

test.each(witnesses)('the test “%s” is in %s', (phrase, file) => {
  expect(projectFiles()).toContain(file);
  const titles = [...textOf(file).matchAll(TITLE)].map(([, , title = '']) => title);
  expect(titles.filter((title) => title.includes(phrase))).not.toEqual([]);
});

/** The defaults of a `limits` object, as the document has them. One principal may take its share of the `shared` ones. */
const limitsOf = (
  { perPrincipal, ...limits }: Readonly<Record<string, number>> & { readonly perPrincipal: number },
  ...shared: readonly string[]
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) => [
      [`limits.${name}`, limit],
      ...(shared.includes(name) ? [[`limits.${name}PerPrincipal`, ownLimit(limit, perPrincipal)]] : []),
    ]),
  );

const PAGES = interactionLimits('MemoryInteractions', undefined, MEMORY_ENTRIES);

/** The default limits of each owner, by option. The packages' own tests check that the limits are enforced. */
const LIMITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  policy: {
    ...TIME_DEFAULTS,
    ...limitsOf(DEFAULT_LIMITS, 'requests'),
    'questions of one round': FIXED_LIMITS.questions,
    'one answer, in bytes of JSON': FIXED_LIMITS.answerBytes,
    'recorded result, in bytes': FIXED_LIMITS.resultBytes,
    'time for a ledger to decide, in seconds': FIXED_LIMITS.ledgerSeconds,
    'answers to one form that do not fit': MAX_UNFIT,
    'levels of arguments and answers': MAX_DEPTH,
  },
  frames: {
    ...limitsOf(FRAME_LIMITS, 'frames', 'bytes'),
    ttlSeconds: TTL_SECONDS,
    'abandoned handlers': MOST_ABANDONED,
    'abandoned handlersPerPrincipal': ownLimit(MOST_ABANDONED, FRAME_LIMITS.perPrincipal),
  },
  database: {
    ...limitsOf(DURABLE_LIMITS, 'calls', 'bytes'),
    ttlSeconds: DURABLE_DEFAULTS.ttlSeconds,
    poolSize: DURABLE_DEFAULTS.poolSize,
    'time until another instance takes over a call that runs, in seconds': TIMES.takeOverSeconds,
    'time between two sweeps, in seconds': TIMES.sweepSeconds,
  },
  ledger: limitsOf(MEMORY_LEDGER_LIMITS, 'entries', 'bytes'),
  pages: {
    'limits.entries': PAGES.entries,
    'limits.entriesPerPrincipal': PAGES.ownOpen,
    'pages of one principal that are over, kept for their calls': PAGES.ownOver,
    'one pending interaction, in bytes': MAX_RECORD_BYTES,
    'time for the same call after its approval, in seconds': RESUME_SECONDS,
    ...PAGE_DEFAULTS,
  },
  host: {
    ...limitsOf(MOUNT_LIMITS, 'bytes', 'subscriptions', 'sessions'),
    'members of a request body, for each MiB that it may have': MEMBERS_PER_MIB,
    'time for a request body, in seconds': BODY_SECONDS,
    'time that a client may read nothing of its response, in seconds': SEND_SECONDS,
    'bytes of one stream that wait to be read': MAX_STREAM_BYTES,
    'bytes that a session keeps of its `initialize`': MAX_SESSION_BYTES,
    'time that a session may be idle, in seconds': IDLE_SECONDS,
    'members of `_meta`, or of an `initialize`': MAX_DECLARED_MEMBERS,
    'an `initialize`, in bytes': MAX_INITIALIZE_BYTES,
    'requests of one connection that wait for their responses': MAX_PIPELINED,
    'pages served at once': MAX_PAGES,
    'a body posted to a page, in bytes': PAGE_BODY_LIMITS.bodyBytes,
    'bytes of incoming bodies of pages': PAGE_BODY_LIMITS.bytes,
  },
  stdio: { 'a line, in bytes': MAX_LINE_BYTES },
};

/** The owner of a limit, its name, the limit of all and perhaps of one principal, and perhaps its option. */
const ROW = /^\| (\w+) \| ([^|]+) \| ([\d ]+?)(?: \(([\d ]+)\))? \| (?:`([\w.]+)`|fixed) \| [^|]+ \|$/gm;
const rows = [...DOCUMENT.matchAll(ROW)];

/** The limits of an owner in the table. */
function documentedLimits(owner: string): Record<string, number> {
  const ofOwner = rows.filter(([, of]) => of === owner);
  const limits = ofOwner.flatMap(([, , limit = '', ofAll = '', ofOne = '', option = limit]) => [
    [option, ofAll] as const,
    ...(ofOne === '' ? [] : [[`${option}PerPrincipal`, ofOne] as const]),
  ]);
  return Object.fromEntries(limits.map(([name, value]) => [name, Number(value.replaceAll(' ', ''))]));
}

test.each(Object.entries(LIMITS))(
  'each limit that the document gives is the one that holds, and none is missing: %s',
  (owner, defaults) => {
    expect(documentedLimits(owner)).toEqual(defaults);
  },
);

test('the document has one table of limits, with rows for each owner', () => {
  const table = /^\| Of \| Limit \|.*\n\| --- .*\n((?:\|.*\n)+)/m.exec(DOCUMENT)?.[1] ?? '';
  expect(rows.map(([row]) => row)).toEqual(table.trimEnd().split('\n'));
  expect([...new Set(rows.map(([, owner]) => owner))]).toEqual(Object.keys(LIMITS));
});
