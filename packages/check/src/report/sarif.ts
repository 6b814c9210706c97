/** The report as SARIF 2.1.0, for code-scanning pages. */
import { hash } from 'node:crypto';
import { CHECKS } from '../checks/all.ts';
import { type Check, FINDINGS } from '../judging/check.ts';
import { locate, locateInConfig } from './locate.ts';
import { nameOfTarget, type Report, type ReportedCheck } from './report.ts';
import { forLog, jsonText } from './text.ts';

const PAGE =
  'https://github.com/mrtr-shapes/mrtr-shapes/blob/main/docs/checking-reference.md#what-each-check-means';
const LEVEL = { fail: 'error', warn: 'warning', advice: 'note' } as const;
const RULE_LEVEL = { M: 'error', S: 'warning', A: 'note' } as const;

/** The places of the code and the configuration. */
export interface Sources {
  /** The folder to search for the registration of each tool. */
  readonly source?: string | undefined;
  /** The configuration file. Findings are placed there if the tool is not found. */
  readonly config?: string | undefined;
}

/** Returns the SARIF. Leaves out accepted findings: code-scanning pages do not show the reason. */
export function sarifReport(reports: readonly Report[], sources: Sources = {}) {
  const driver = { name: 'mrtr-check', informationUri: PAGE, rules: CHECKS.map(ruleOf) };
  const run = {
    tool: { driver },
    columnKind: 'utf16CodeUnits',
    invocations: reports.map(invocationOf),
    results: reports.flatMap((report) => resultsOf(report, sources)),
  };
  const schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return `${jsonText({ $schema: schema, version: '2.1.0', runs: [run] })}\n`;
}

function ruleOf({ id, level, family, expected, clause, remedy }: Check) {
  const words = `${clause.at}: “${clause.words}”`;
  return {
    id,
    name: id.replace(/(?:^|[.-])(\w)/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: expected },
    fullDescription: { text: `${expected} ${words}` },
    help: {
      text: `${remedy}\n\n${words}`,
      markdown: `**What to do:** ${remedy}\n\n**The clause:** ${words}\n\n[All checks](${PAGE})`,
    },
    helpUri: PAGE,
    defaultConfiguration: { level: RULE_LEVEL[level] },
    properties: { tags: ['mcp', family], precision: 'high' },
  };
}

/** Escapes brackets, because a page turns `[words](place)` from a server into a link. */
const plain = (text: string) => forLog(text).replace(/[\\[\]]/g, '\\$&');

function resultsOf(report: Report, { source, config = 'mrtr-check.json' }: Sources) {
  const { operation } = report.target;
  const { uri, line } =
    (source === undefined ? undefined : locate(operation, source)) ?? locateInConfig(operation, config);
  const location = {
    physicalLocation: { artifactLocation: { uri }, region: { startLine: line } },
  };
  return FINDINGS.flatMap((verdict) => {
    const found = report.checks.filter((one) => one.verdict === verdict && one.accepted === null);
    return found.map((check) => ({
      ruleId: check.id,
      ruleIndex: CHECKS.findIndex(({ id }) => id === check.id),
      level: LEVEL[verdict],
      message: { text: messageOf(check, report) },
      locations: [location],
      partialFingerprints: fingerprintOf(check, report),
    }));
  });
}

const messageOf = ({ actual, remedy, reproduce }: ReportedCheck, report: Report) =>
  plain(`${nameOfTarget(report.target)}: ${actual}\n\nWhat to do: ${remedy}\n\nAgain: ${reproduce}`);

/** The identity of a finding: the same for the same check and target. GitHub matches by the first member. */
function fingerprintOf({ id }: ReportedCheck, report: Report) {
  const { method, operation } = report.target;
  const identity = JSON.stringify([report.target.name, method, operation, id]);
  const print = hash('sha256', identity, 'hex').slice(0, 32);
  return { primaryLocationLineHash: `${print}:1`, 'mrtrCheck/v1': print };
}

function invocationOf(report: Report) {
  const undecided = report.checks.filter(({ verdict }) => verdict === 'could-not-run');
  return {
    executionSuccessful: report.exitCode !== 3,
    exitCode: report.exitCode,
    toolExecutionNotifications: undecided.map(({ id, actual }) => ({
      level: 'warning',
      message: { text: plain(`${nameOfTarget(report.target)}: ${id} could not run: ${actual}`) },
      associatedRule: { id },
    })),
  };
}
