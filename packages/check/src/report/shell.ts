/** Makes command lines to paste into a shell. */
import { escapeHidden } from '@mrtr/harness/internal';
import type { Turn } from '../session/session.ts';
import {
  type Address,
  type CompleteInputs,
  DEFAULTS,
  headersOf,
  type Operation,
  type ProbeSpec,
} from '../target/target.ts';
import { envelope, mirroringHeaders } from '../wire/request.ts';

/** Quotes a word if a shell would interpret it. */
export function quote(word: string) {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word)) return word;
  if (escapeHidden(word) === word && !word.includes('##')) return `'${word.replaceAll("'", `'\\''`)}'`;
  // The log of a CI job executes `##vso[`.
  const quoted = word.replace(/[\\']/g, '\\$&').replace(/##/g, '#\\x23');
  const escaped = escapeHidden(quoted, (hidden) =>
    Buffer.from(hidden).toString('hex').replace(/../g, '\\x$&'),
  );
  return `$'${escaped}'`;
}

export const REDACTED = '<redacted>';

/** A command that also works for the reader: the script of this repository, or the package that a project has installed. */
const PROGRAM =
  process.env.npm_lifecycle_event === 'mrtr-check'
    ? 'npx -y pnpm@12 mrtr-check'
    : 'npx --no-install mrtr-check';

export function reproducing(inputs: CompleteInputs, ids: string) {
  const { address, operation, probe, otherOperation: other, timeoutSeconds } = inputs;
  const options = {
    only: ids,
    seed: String(inputs.seed),
    [operation.kind]: operation.name,
    arguments: Object.keys(operation.arguments).length > 0 && JSON.stringify(operation.arguments),
    'other-arguments': inputs.otherArguments && JSON.stringify(inputs.otherArguments),
    'other-operation': other && operationText(other),
    answer: Object.entries(inputs.answers).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
    'generate-answers': inputs.generateAnswers,
    probe: probe && probeText(probe),
    vary: varyTexts(inputs.vary),
    header: redactedLines(address.headers),
    'other-header': redactedLines(address.otherHeaders),
    also: address.also,
    restart: address.restart,
    next: address.next,
    ttl: inputs.ttlSeconds?.toString(),
    timeout: timeoutSeconds !== DEFAULTS.timeoutSeconds && String(timeoutSeconds),
    'max-time': inputs.mostSeconds?.toString(),
    'one-time': inputs.oneTime,
    'needs-consent': inputs.needsConsent,
    'allow-effects': inputs.allowEffects,
  };
  const words = Object.entries(options).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => {
      if (typeof one === 'string') return [`--${name}`, one];
      return one ? [`--${name}`] : [];
    }),
  );
  const place = address.url === undefined ? [] : [address.url];
  const command = address.command === undefined ? [] : ['--', ...address.command];
  return [PROGRAM, ...[...words, ...place, ...command].map(quote)].join(' ');
}

const varyTexts = (vary: CompleteInputs['vary']) =>
  typeof vary === 'object'
    ? Object.entries(vary).map(([name, list]) => `${name}=${JSON.stringify(list)}`)
    : vary;

const redactedLines = (headers: Readonly<Record<string, string>> = {}) =>
  Object.keys(headers).map((name) => `${name}: ${REDACTED}`);

const operationText = ({ kind, name, arguments: args }: Operation) =>
  `${kind}:${name}${Object.keys(args).length > 0 ? ` ${JSON.stringify(args)}` : ''}`;

const probeText = (probe: ProbeSpec) =>
  probe.kind === 'operation'
    ? operationText(probe.operation)
    : `${probe.kind}:${probe.kind === 'url' ? probe.url : probe.command}`;

const MAX_CURL = 8000;

/** The request as a curl command. Undefined if it was not sent over HTTP, or is too long. */
export function curlOf(turn: Turn | undefined, address: Address) {
  if (turn?.url === undefined) return undefined;
  const own = Object.keys(headersOf(address, turn.principal));
  const redacted = Object.fromEntries(own.map((name) => [name, REDACTED]));
  const all = Object.entries({ ...mirroringHeaders(turn.request), ...redacted });
  const data = JSON.stringify(envelope(turn.request, 1));
  const words = all.flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const line = ['curl', '-sS', turn.url.href, ...words, '--data-raw', data].map(quote).join(' ');
  return line.length > MAX_CURL ? undefined : line;
}
