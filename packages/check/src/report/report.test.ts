/** Reports of a server that says hostile things. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Transcript } from '@mrtr/harness/transcript';
import { describe, expect, test } from 'vitest';
import { CHECKS } from '../checks/all.ts';
import type { Verdict } from '../judging/check.ts';
import { shorten } from '../wire/json.ts';
import { outcomeOf } from '../wire/outcome.ts';
import { draw } from './drawing.ts';
import { htmlReport } from './html.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { redactor } from './redact.ts';
import { PROFILE, type Report, type ReportedCheck } from './report.ts';
import { sarifReport } from './sarif.ts';
import { quote } from './shell.ts';
import { terminalReport } from './terminal.ts';
import { jsonText, printable } from './text.ts';
import { transcriptOf } from './transcript.ts';

const HOSTILE =
  '\u001b[2J\u001b]0;owned\u0007 <script>alert(1)</script> <!-- <script> --> | `` ``` ` [x](javascript:alert(1)) @everyone \u202edesrever ' +
  "'; touch /tmp/owned; ' $(touch /tmp/owned) \u0000\u009b31m ]]> &amp; \ud800 in\u200bvi\u2060sible\ufeff\u{e0041} " +
  'https://evil.test or www.evil.test \uffff';

const message = (from: string, to: string, at: number, message: Readonly<Record<string, unknown>>) => ({
  kind: 'message' as const,
  ...{ from, to, at, message },
});

const conversation: Transcript = {
  format: 'mrtr-transcript',
  version: 1,
  title: HOSTILE,
  participants: [],
  events: [
    message('client', 'server', 0, { method: 'tools/call', params: { name: HOSTILE } }),
    message('server', 'client', 1, { result: { content: [{ type: 'text', text: HOSTILE }] } }),
    { kind: 'effect', instance: 'server', name: 'probe', detail: HOSTILE, at: 2 },
  ],
  end: { error: { message: HOSTILE } },
};

const VIEWER = { script: 'draw("it");', style: '.mrtr-viewer { color: red; }' };

const check = (verdict: Verdict, at: number): ReportedCheck => {
  const { id, family, level, expected, clause, remedy } = CHECKS[at] as (typeof CHECKS)[number];
  const found = verdict === 'fail' || verdict === 'warn' || verdict === 'advice';
  return {
    ...{ id, family, level, expected, clause, remedy, verdict },
    actual: `saw ${HOSTILE}`,
    accepted: verdict === 'advice' ? HOSTILE : null,
    reproduce: `mrtr-check --tool ${quote(HOSTILE)}`,
    curl: null,
    conversation: found ? conversation : null,
    calls: 3,
  };
};

const VERDICTS = ['fail', 'warn', 'advice', 'pass', 'not-applicable', 'not-run', 'could-not-run'] as const;

const report: Report = {
  profile: PROFILE,
  target: { name: null, address: HOSTILE, method: 'tools/call', operation: HOSTILE, arguments: {} },
  seed: 1,
  summary: {
    ...{ fail: 1, warn: 1, advice: 1, pass: 1, 'not-applicable': 1, 'not-run': 1, 'could-not-run': 1 },
    ...{ ran: 4, checks: 7, calls: 21, seconds: 0.1, stale: ['state.size'] },
  },
  exitCode: 1,
  checks: VERDICTS.map(check),
};

// Line breaks are the only control characters that a report may contain.
const CONTROLS = /(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}\u200b\u2060\ufeff\uffff\u{e0041}]/u;

describe('a report of hostile words', () => {
  test('holds no control characters in any format', () => {
    const [terminal, markdown, json] = [terminalReport(report), markdownReport(report), jsonText(report)];
    const pages = [htmlReport([report]), htmlReport([report], VIEWER), junitReport([report])];
    for (const text of [terminal, markdown, json, ...pages, draw(conversation).join('\n')])
      expect(text).not.toMatch(CONTROLS);
    expect(JSON.parse(jsonText([report, '\u{1fffe}']))).toEqual([report, '\u{1fffe}']);
  });

  test('holds no markup of the server in HTML and XML', () => {
    for (const text of [htmlReport([report]), junitReport([report])]) {
      expect(text).not.toContain('<script');
      expect(text).not.toContain(']]>');
      expect(text).not.toMatch(/&(?!amp;|lt;|gt;|quot;|#39;)/);
    }
  });

  test('holds conversations for the viewer, whose script element their text cannot end or begin', () => {
    const html = htmlReport([report], VIEWER);
    const scripts = html.match(/<script[\s\S]*?<\/script>/g) ?? [];
    expect(scripts).toHaveLength(4);
    expect(scripts.at(-1)).toBe(`<script>${VIEWER.script}</script>`);
    expect(html.match(/<\/?script/g)).toHaveLength(8);
    expect(html).not.toContain('<!--');
    for (const script of scripts.slice(0, -1)) {
      const data = /^<script type="application\/json" data-mrtr-transcript>([^<]*)<\/script>$/.exec(script);
      expect(JSON.parse(data?.[1] ?? '')).toEqual(printable(conversation));
      expect(JSON.parse(data?.[1] ?? '')).toHaveProperty(
        'events.2.detail',
        expect.stringContaining('\\u{1b}[2J'),
      );
    }
    // Readers without scripts see the same as text.
    expect(html.match(/<pre class="plain" data-mrtr-text/g)).toHaveLength(3);
  });

  test('has a policy that allows only its own script and styles', () => {
    const policyOf = (html: string) =>
      /http-equiv="content-security-policy" content="([^"]*)"/.exec(html)?.[1];
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const html = htmlReport([report], VIEWER);
    const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style = '']) => hash(style));
    expect(styles).toHaveLength(2);
    expect(policyOf(html)).toBe(
      `default-src 'none'; script-src ${hash(VIEWER.script)}; style-src ${styles.join(' ')}; base-uri 'none'; form-action 'none'`,
    );
    expect(policyOf(htmlReport([report]))).not.toContain('script-src');
    expect(html).not.toMatch(/\sstyle=|\son\w+=/);
  });

  test('holds no link, mention or column of the server in Markdown, and no link in SARIF', () => {
    const prose = markdownReport(report).replace(/^(`{3,})[a-z]*\n[\s\S]*?\n\1$/gm, '');
    expect(prose).not.toMatch(/(?<!\\)\[x\]|(?<!\\)<script|@everyone|https:\/\/evil|www\.evil/);
    const [{ message }] = JSON.parse(sarifReport([report])).runs[0].results;
    expect(message.text).toMatch(/\\\[x\\\]/);
    expect(message.text).not.toMatch(/(?<!\\)\[x\]/);
    expect(prose).not.toMatch(/^`{3,}/m);
    for (const row of prose.split('\n').filter((line) => line.startsWith('| `')))
      expect(row.match(/(?<!\\)\|/g)).toHaveLength(4);
  });

  test('quotes every word so that a shell reads it unchanged', () => {
    const words = [
      "it's",
      'a b',
      '$(id)',
      '`id`',
      'a\nb',
      '\u001b[31m',
      '\\',
      "\\'",
      '!x',
      '*',
      '{port}',
      '',
    ];
    for (const word of words)
      expect(execFileSync('bash', ['-c', `printf %s ${quote(word)}`], { encoding: 'utf8' })).toBe(word);
  });
});

test('redaction removes a value from every string, in each of its spellings', () => {
  const [one, other] = ['s3cr3t"token', 'k2-value'];
  const redact = redactor({ headers: { authorization: `Bearer ${one}` }, otherHeaders: { 'x-key': other } });
  const value = { a: [`got Bearer ${one}`, `the token ${one}`], 'k2-value': JSON.stringify(one) };
  expect(JSON.stringify(redact(value))).not.toMatch(/s3cr3t|k2-value/);
  expect(redact({ n: 1, b: true, z: null })).toEqual({ n: 1, b: true, z: null });
});

test('a secret that is a word of the transcript format is redacted in what was sent, and nowhere else', () => {
  const redact = redactor({ headers: { a: 'client', b: 'message', c: 'vent' } });
  const request = { method: 'tools/call', params: { words: 'the client, inventing' } };
  const reply = { messages: [], ms: 0 };
  const last = outcomeOf({ ...reply, error: { code: 1, message: 'no message' } });
  const turn = {
    request,
    reply,
    outcome: last,
    principal: 'own',
    instance: 'server',
    at: 0,
    url: undefined,
  } as const;
  const call = { title: 'a client', isOld: false, moments: [turn], last };
  const { title, participants, events, end } = transcriptOf(call, redact);
  expect(title).toBe('a <redacted>');
  expect(participants.map(({ id, kind }) => [id, kind])).toEqual([
    ['client', 'client'],
    ['server', 'instance'],
  ]);
  const params = { words: 'the <redacted>, in<redacted>ing' };
  const sent = { jsonrpc: '2.0', method: 'tools/call', params };
  expect(events).toEqual([{ kind: 'message', from: 'client', to: 'server', at: 0, message: sent }]);
  expect(end).toEqual({ error: { code: 1, message: 'no <redacted>' } });
});

describe('redaction of encoded secrets', () => {
  const password = 'correct horse';
  const basic = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
  const secret = 'k2-value-of-mallory';
  const redact = redactor({ headers: { authorization: basic }, otherHeaders: { 'x-key': secret } });

  test('removes the password of Basic, because the server may have decoded it', () => {
    expect(redact(`hello ada:${password}`)).not.toContain('horse');
    expect(redact(`your password is ${password}`)).not.toContain('horse');
  });

  test('finds the rest of a secret in a cut text, and a tampered copy that differs in one character', () => {
    for (const most of [8, 12, 20])
      expect(redact(shorten(`got ${secret}, and more of it`, most))).not.toMatch(/k2-|value/);
    expect(redact(`…${secret.slice(5)} came`)).toBe('…<redacted> came');
    expect(redact(`{"p":"${secret.replace('k', 'j')}"}`)).not.toContain('mallory');
    expect(redact(Buffer.from(secret).toString('hex'))).toBe('<redacted>');
    expect(redact('a word and… more')).toBe('a word and… more');
  });

  test.each([0, 1, 2])('finds a secret inside of Base64, %i bytes after its beginning', (before) => {
    const state = Buffer.from(`${'{"a'.slice(0, before)}k2-value-of-mallory"}`);
    for (const encoding of ['base64', 'base64url'] as const) {
      const clean = redact(state.toString(encoding)).split('<redacted>');
      expect(clean).toHaveLength(2);
      expect(Buffer.from(clean.join('AAAA'), 'base64').toString()).not.toMatch(/value|mallory/);
    }
  });
});

test('equal messages in a row are drawn once', () => {
  const [request] = conversation.events;
  const many = { ...conversation, events: Array(10).fill(request) };
  expect(draw(many).filter((line) => line.includes('├'))).toHaveLength(1);
  expect(draw(many).join('\n')).toContain('10 times:');
});

describe('the card', () => {
  const plain = (id: string, verdict: Verdict, accepted: string | null = null): ReportedCheck => ({
    ...check(verdict, 0),
    ...{ id, accepted, actual: 'seen', conversation: null },
  });
  const reportWith = (checks: readonly ReportedCheck[], exitCode: Report['exitCode']): Report => {
    const count = (verdict: Verdict) => checks.filter((one) => one.verdict === verdict).length;
    const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)]));
    const ran = checks.filter(({ verdict }) => !verdict.includes('not')).length;
    return { ...report, checks, exitCode, summary: { ...report.summary, ...counts, ran, stale: [] } };
  };

  test('marks accepted findings, in every report', () => {
    const one = reportWith([plain('state.size', 'fail', 'it is known'), plain('state.oracle', 'fail')], 1);
    expect(terminalReport(one)).toMatch(/ {2}fail {4}state\.size \(accepted\) {2}state\.oracle\n/);
    expect(markdownReport(one)).toMatch(/^\* \*\*fail\*\*: `state\.size` \(accepted\), `state\.oracle`$/m);
    expect(htmlReport([one])).toMatch(
      /<a href="#1-state\.size">state\.size<\/a> \(accepted\).*<section class="finding" id="1-state\.size">/s,
    );
  });

  test('says in every report how its passes were judged', () => {
    const seen = { ...plain('state.size', 'pass'), actual: 'rejected (by its words; without --probe …)' };
    const one = reportWith([seen], 0);
    const words = /1 of the passes rest on the server.?s words: --probe would/;
    for (const text of [terminalReport(one), markdownReport(one), htmlReport([one])])
      expect(text.replace(/\\|&#39;/g, '')).toMatch(words);
  });

  test('begins each line of ids in one column', () => {
    const long = ['decline-ends', 'cancel-ends', 'rounds-bounded'].map((name) => `refusal.${name}`);
    const ids = ['state.aliased', 'state.readable', 'answer.unasked', ...long];
    const checks = ids.map((id) => plain(id, 'advice'));
    const lines = terminalReport(reportWith(checks, 0)).split('\n');
    const from = lines.findIndex((line) => line.startsWith('  advice'));
    expect(lines.slice(from + 1, lines.indexOf('', from)).map((line) => line.search(/\S/))).toEqual([10]);
  });

  test('says why a warn alone ends with 1, and that an input is missing', () => {
    const ends = (verdict: Verdict, code: 1 | 3) =>
      terminalReport(reportWith([plain('state.size', verdict)], code));
    expect(ends('warn', 1)).toMatch(/exit 1: under --strict a warn counts as a fail/);
    expect(ends('not-run', 3)).toMatch(/exit 3: an input was not given/);
  });
});

test('JUnit marks a warn as such, and counts it neither as passed nor as failed', () => {
  expect(junitReport([report])).toMatch(/tests="7" failures="1" errors="1" skipped="3"/);
  expect(junitReport([report])).toMatch(/<skipped message="warn: [^"]+"\/>\s*<system-out>warn: /);
  expect(junitReport([report], true)).toMatch(/failures="2" errors="1" skipped="2"/);
});
