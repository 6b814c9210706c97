/** The report for a terminal: a short card, then the findings. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { escapeHidden } from '@mrtr/harness/internal';
import { FINDINGS, UNDECIDED, type Verdict } from '../judging/check.ts';
import { draw } from './drawing.ts';
import { acceptedMark, describeRun, partsOf, type Report, type ReportedCheck, titleOf } from './report.ts';
import { clip, pad, wrap } from './text.ts';

const WIDTH = 100;

type Style = Parameters<typeof styleText>[0];

const LOOK: Readonly<Record<Verdict, { readonly mark: string; readonly style: Style }>> = {
  fail: { mark: '✗', style: 'red' },
  warn: { mark: '!', style: 'yellow' },
  advice: { mark: '·', style: 'cyan' },
  pass: { mark: '✓', style: 'green' },
  'not-applicable': { mark: '-', style: 'gray' },
  'not-run': { mark: '-', style: 'gray' },
  'could-not-run': { mark: '?', style: 'magenta' },
};

/** Returns the report as text, optionally with colours. */
export function terminalReport(report: Report, colours = false) {
  const shown = describeRun(report).findings.flatMap(({ found }) => found);
  const lines = [...card(report), ...shown.flatMap(finding), ...listUndecided(report), ...ending(report)];
  return textOf(lines, colours);
}

/** Returns the card, and the reasons of a run that could not decide. Printed if all reports go to files. */
export function terminalCard(report: Report, colours: boolean) {
  const undecided = report.exitCode === 3 ? listUndecided(report) : [];
  return textOf([...card(report), ...undecided, ...ending(report)], colours);
}

/** The report's own codes are the only ones in the lines: text from the server is escaped there. */
function textOf(lines: readonly string[], colours: boolean) {
  const text = `${lines.join('\n')}\n`;
  return colours ? text : stripVTControlCharacters(text);
}

const paint = (style: Style, text: string) => styleText(style, text, { validateStream: false });

function card(report: Report) {
  const { target, summary } = report;
  const { findings, tally } = describeRun(report);
  const count = (verdict: Verdict) => {
    const { mark, style } = LOOK[verdict];
    const text = `${mark} ${summary[verdict]} ${verdict.replaceAll('-', ' ')}`;
    return summary[verdict] > 0 ? paint(style, text) : paint('gray', text);
  };
  const title = `${titleOf(target)}  ${target.name ?? target.address}`;
  const rule = paint('gray', '─'.repeat(WIDTH));
  const ids = findings.flatMap(({ verdict, found }) => {
    const lines = wrap(found.map((one) => `${one.id}${acceptedMark(one)}`).join('  '), WIDTH - 12);
    return lines.map(
      (line, at) => `  ${paint(LOOK[verdict].style, pad(at ? '' : verdict, 8))}${line.trimStart()}`,
    );
  });
  return [
    rule,
    `  ${paint('bold', 'mrtr-check')}  ${clip(title, WIDTH - 16)}`,
    ...(target.next === undefined ? [] : [`  ${clip(`new version: ${target.next}`, WIDTH - 4)}`]),
    '',
    `  ${[...FINDINGS, 'pass' as const].map(count).join('    ')}`,
    `  ${UNDECIDED.map(count).join('    ')}`,
    ...whyNotApplicable(report).map((line) => paint('gray', `  ${line}`)),
    ...(ids.length > 0 ? ['', ...ids] : []),
    '',
    paint('gray', `  ${tally}`),
    rule,
    '',
  ];
}

function whyNotApplicable({ checks }: Report) {
  const reasons = [...groupByReason(checks, 'not-applicable')];
  const words = reasons.map(([reason, { length }]) => `${reason.replace(/[;,.] .*/, '')} (${length})`);
  return words.length === 0 ? [] : wrap(`not applicable: ${words.join(', ')}`, WIDTH - 4, 3);
}

function groupByReason(checks: readonly ReportedCheck[], verdict: Verdict) {
  const reasons = new Map<string, string[]>();
  for (const { actual, id } of checks.filter((one) => one.verdict === verdict))
    reasons.set(actual, [...(reasons.get(actual) ?? []), id]);
  return reasons;
}

function finding(check: ReportedCheck) {
  const { mark, style } = LOOK[check.verdict];
  const head = `${mark} ${check.verdict.toUpperCase()}  ${check.id}`;
  const row = (name: string, text: string, most?: number) =>
    wrap(text, WIDTH - 14, most).map((line, at) => `    ${paint('gray', pad(at ? '' : name, 9))} ${line}`);
  const line = (name: string, text: string) => `    ${paint('gray', pad(name, 9))} ${escapeHidden(text)}`;
  return [
    `${paint(style, head)}${check.accepted === null ? '' : paint('gray', `  accepted: ${escapeHidden(check.accepted)}`)}`,
    ...partsOf({ ...check, accepted: null }).flatMap(({ name, text }) =>
      row(name.toLowerCase(), text, name === 'Seen' ? 8 : undefined),
    ),
    // Keep each on one line, to be copied.
    line('again', check.reproduce),
    ...(check.curl ? [line('curl', check.curl)] : []),
    ...(check.conversation ? ['', ...draw(check.conversation).map((one) => paint('gray', one))] : []),
    '',
  ];
}

function listUndecided({ checks }: Report) {
  return UNDECIDED.flatMap((verdict) => {
    const reasons = groupByReason(checks, verdict);
    if (reasons.size === 0) return [];
    const { mark, style } = LOOK[verdict];
    const lines = [...reasons].flatMap(([reason, ids]) => {
      const failed = checks.find((one) => one.actual === reason && one.conversation)?.conversation;
      return [
        ...wrap(reason, WIDTH - 6, 6).map((one, at) => `    ${at === 0 ? '' : '  '}${one}`),
        ...wrap(
          ids.length > 1 && ids.length === checks.length ? `all ${ids.length} checks` : ids.join(', '),
          WIDTH - 8,
        ).map((one) => `      ${paint('gray', one)}`),
        ...(failed ? ['', ...draw(failed).map((one) => paint('gray', one)), ''] : []),
      ];
    });
    return [paint(style, `${mark} ${verdict.toUpperCase().replaceAll('-', ' ')}`), ...lines, ''];
  });
}

function ending(report: Report) {
  const { stale, caveats, exit } = describeRun(report);
  return [
    ...stale.map((line) => paint('red', `✗ ${line}`)),
    ...[...caveats, exit].map((line) => `  ${line}`),
  ];
}
