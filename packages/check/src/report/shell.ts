/** Makes command lines to paste into a shell. */
import { escapeHidden } from '@mrtr/harness/transcript';
import { DEFAULTS } from '../run/run.ts';
import type { Turn } from '../session/session.ts';
import type { Inputs, Operation, ProbeSpec } from '../target/target.ts';
import { envelope, mirroringHeaders } from '../wire/request.ts';

/** Quotes a word if a shell would interpret it. */
export function quote(word: string): string {
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

export function reproducing(inputs: Inputs, ids: string): string {
  const { address, operation, answers } = inputs;
  const words = ['mrtr-check', '--only', ids, '--seed', String(inputs.seed)];
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) words.push(`--${name}`, value);
  };
  add(operation.kind, operation.name);
  if (Object.keys(operation.arguments).length > 0) add('arguments', JSON.stringify(operation.arguments));
  add('other-arguments', inputs.otherArguments && JSON.stringify(inputs.otherArguments));
  add('other-operation', inputs.otherOperation && operationText(inputs.otherOperation));
  for (const [key, value] of Object.entries(answers)) add('answer', `${key}=${JSON.stringify(value)}`);
  if (inputs.generateAnswers) words.push('--generate-answers');
  add('probe', inputs.probe && probeText(inputs.probe));
  for (const name of Object.keys(address.headers)) add('header', `${name}: ${REDACTED}`);
  for (const name of Object.keys(address.otherHeaders ?? {})) add('other-header', `${name}: ${REDACTED}`);
  add('also', address.also);
  add('restart', address.restart);
  add('next', address.next);
  add('ttl', inputs.ttlSeconds?.toString());
  if (inputs.timeoutSeconds !== DEFAULTS.timeoutSeconds) add('timeout', String(inputs.timeoutSeconds));
  add('max-time', inputs.mostSeconds?.toString());
  if (inputs.oneTime) words.push('--one-time');
  if (inputs.needsConsent) words.push('--needs-consent');
  if (inputs.allowEffects) words.push('--allow-effects');
  if (address.url !== undefined) words.push(address.url);
  if (address.command !== undefined) words.push('--', ...address.command);
  return words.map(quote).join(' ');
}

const operationText = ({ kind, name, arguments: args }: Operation): string =>
  `${kind}:${name}${Object.keys(args).length > 0 ? ` ${JSON.stringify(args)}` : ''}`;

const probeText = (probe: ProbeSpec): string =>
  probe.kind === 'operation'
    ? operationText(probe.operation)
    : `${probe.kind}:${probe.kind === 'url' ? probe.url : probe.command}`;

const MAX_CURL = 8000;

export function curlOf(
  turn: Turn | undefined,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  if (turn?.url === undefined) return undefined;
  const words = ['curl', '-sS', turn.url.href];
  const all = { ...mirroringHeaders(turn.request), ...redactedValues(headers) };
  for (const [name, value] of Object.entries(all)) words.push('-H', `${name}: ${value}`);
  words.push('--data-raw', JSON.stringify(envelope(turn.request, 1)));
  const line = words.map(quote).join(' ');
  return line.length > MAX_CURL ? undefined : line;
}

const redactedValues = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED]));
