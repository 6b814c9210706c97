/** The report as JUnit XML, for CI. */
import { nameOfTarget, partsOf, type Report, type ReportedCheck } from './report.ts';
import { forMarkup } from './text.ts';

/**
 * Returns the XML. A fail is a failure, with `strict` a warn too. An undecided check is an error; one that did not run is
 * skipped. The format has no warnings, so a warn is skipped with its message: it is shown and not counted as a pass.
 */
export function junitReport(reports: readonly Report[], strict = false) {
  const suites = reports.map((report) => suite(report, strict));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="mrtr-check">\n${suites.join('\n')}\n</testsuites>\n`;
}

function suite({ target, summary, checks }: Report, strict: boolean) {
  const count = (kind: Kind) => checks.filter((check) => kindOf(check, strict).startsWith(kind)).length;
  const head =
    `  <testsuite name="${forMarkup(nameOfTarget(target))}" tests="${summary.checks}" failures="${count('failure')}" ` +
    `errors="${count('error')}" skipped="${count('skipped')}" time="${summary.seconds}">`;
  return [head, ...checks.map((check) => testCase(check, strict)), '  </testsuite>'].join('\n');
}

type Kind = 'failure' | 'error' | 'skipped' | 'skipped warning' | 'note' | 'passed';

/** Accepted findings and advice are notes: CI systems show them without counting a failure. */
function kindOf({ verdict, accepted }: ReportedCheck, strict: boolean) {
  if (verdict === 'pass') return 'passed';
  if (verdict === 'could-not-run') return 'error';
  if (verdict === 'not-run' || verdict === 'not-applicable') return 'skipped';
  if (accepted !== null || verdict === 'advice') return 'note';
  return verdict === 'fail' || strict ? 'failure' : 'skipped warning';
}

function testCase(check: ReportedCheck, strict: boolean) {
  const inner = innerOf(check, kindOf(check, strict));
  const head = `    <testcase classname="mrtr-check.${check.family}" name="${forMarkup(check.id)}"`;
  return inner ? `${head}>\n${inner}\n    </testcase>` : `${head}/>`;
}

function innerOf(check: ReportedCheck, kind: Kind) {
  const { verdict, actual } = check;
  const parts = partsOf(check).map(({ name, text }) => `${name.toLowerCase()}: ${text}`);
  const text = forMarkup([...parts, `again: ${check.reproduce}`].join('\n'));
  const message = forMarkup(actual);
  if (kind === 'failure' || kind === 'error')
    return `      <${kind} type="${verdict}" message="${message}">${text}</${kind}>`;
  const skipped = `      <skipped message="${verdict}: ${message}"/>`;
  const note = `      <system-out>${verdict}: ${text}</system-out>`;
  if (kind === 'skipped') return skipped;
  if (kind === 'skipped warning') return `${skipped}\n${note}`;
  return kind === 'passed' ? undefined : note;
}
