/** The report as JUnit XML, for CI. */
import { partsOf, type Report, type ReportedCheck } from './report.ts';
import { forMarkup } from './text.ts';

/**
 * Writes it. A fail is a failure (under `strict` a warn too), an undecided check an error, one that did not run skipped.
 * The format has no warning. A warn is skipped with its words: lists show that beside the test, and count no pass.
 */
export function junitReport(reports: readonly Report[], { strict = false } = {}): string {
  const suites = reports.map((report) => suite(report, strict));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="mrtr-check">\n${suites.join('\n')}\n</testsuites>\n`;
}

function suite({ target, summary, checks }: Report, strict: boolean): string {
  const failing = checks.filter((check) => isFailure(check, strict)).length;
  const skipped = checks.filter((check) => isSkipped(check, strict)).length;
  const name = target.name ?? `${target.method} ${target.operation}`;
  const head =
    `  <testsuite name="${forMarkup(name)}" tests="${summary.checks}" failures="${failing}" ` +
    `errors="${summary['could-not-run']}" skipped="${skipped}" time="${summary.seconds}">`;
  return [head, ...checks.map((check) => testCase(check, strict)), '  </testsuite>'].join('\n');
}

const isFailure = ({ verdict, accepted }: ReportedCheck, strict: boolean): boolean =>
  accepted === null && (verdict === 'fail' || (strict && verdict === 'warn'));

const isSkipped = (check: ReportedCheck, strict: boolean): boolean =>
  ['not-run', 'not-applicable'].includes(check.verdict) || isWarning(check, strict);

const isWarning = (check: ReportedCheck, strict: boolean): boolean =>
  check.verdict === 'warn' && check.accepted === null && !isFailure(check, strict);

function testCase(check: ReportedCheck, strict: boolean): string {
  const inner = innerOf(check, strict);
  const head = `    <testcase classname="mrtr-check.${check.family}" name="${forMarkup(check.id)}"`;
  return inner === undefined ? `${head}/>` : `${head}>\n${inner}\n    </testcase>`;
}

/** Accepted findings and advice are notes: CI systems show them, and count no failure. */
function innerOf(check: ReportedCheck, strict: boolean): string | undefined {
  const { verdict, actual } = check;
  const parts = partsOf(check).map(({ name, text }) => `${name.toLowerCase()}: ${text}`);
  const text = forMarkup([...parts, `again: ${check.reproduce}`].join('\n'));
  const message = forMarkup(actual);
  if (isFailure(check, strict))
    return `      <failure type="${verdict}" message="${message}">${text}</failure>`;
  if (verdict === 'could-not-run')
    return `      <error type="could-not-run" message="${message}">${text}</error>`;
  if (verdict === 'not-run' || verdict === 'not-applicable')
    return `      <skipped message="${forMarkup(`${verdict}: ${actual}`)}"/>`;
  if (isWarning(check, strict))
    return `      <skipped message="warn: ${message}"/>\n      <system-out>warn: ${text}</system-out>`;
  return verdict === 'pass' ? undefined : `      <system-out>${forMarkup(verdict)}: ${text}</system-out>`;
}
