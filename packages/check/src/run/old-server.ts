/** The checks of a server that speaks 2025-11-25 alone: those about its user. There, a call has no rounds and no state. */
import { REVISION } from '@mrtr/harness/internal';
import { type Check, type Clause, cite, notApplicable, recommend } from '../judging/check.ts';
import type { Texts } from '../wire/json.ts';
import { OLD_REVISION } from '../wire/request.ts';

const citeOld = (at: string, words: string) => cite(at, words, OLD_REVISION);

const ACTIONS = citeOld(
  'client/elicitation, response actions',
  'Decline: User explicitly declined the request … Cancel: User dismissed without making an explicit choice … Servers ' +
    'should handle each state appropriately',
);

const SCHEMA = citeOld(
  'client/elicitation, form mode security 3',
  'Servers SHOULD validate received data matches the requested schema',
);

/** The clauses whose words are not those of the checked revision. */
const CLAUSES: Readonly<Record<string, Clause>> = {
  'capability.undeclared': citeOld(
    'basic/lifecycle, operation',
    'Both parties MUST: … Only use capabilities that were successfully negotiated',
  ),
  'refusal.no-effect': ACTIONS,
  'refusal.decline-ends': ACTIONS,
  'refusal.cancel-ends': ACTIONS,
  'answer.invalid': SCHEMA,
  'answer.empty-accept': SCHEMA,
};

/** The checks about the user. One check of effects adds rounds. */
const ABOUT_USER =
  /^(?:(?:refusal|effect|consent|form|capability)\.(?!per-round)|answer\.(?:invalid|empty-accept|refusal-with-content))/;

/** Where the author of such a server reads on. */
export const MIGRATE =
  'To support both revisions, see https://github.com/mrtr-shapes/mrtr-shapes/blob/main/docs/migrating.md';

const OLD_SERVER = `the server speaks ${OLD_REVISION} alone, where a call has no rounds and no state. ${MIGRATE}`;

/** The functions of the libraries for 2026-07-28. */
const NEW_NAMES = / In TypeScript: .*?\.(?= |$)/g;

/** What has the property in the SDK of the earlier revision. */
const OLD_NAMES: Texts = {
  'capability.mode': ' In TypeScript: elicitInput() of the SDK checks that.',
  'capability.undeclared': ' In TypeScript: elicitInput() of the SDK checks that.',
  'answer.invalid': ' In TypeScript: elicitInput() of the SDK validates, and throws where it does not fit.',
};

/** The check with the clause and the remedies of the earlier revision, in which most sentences read the same. */
export function forOldServer(check: Check): Check {
  const oldRemedy = (text: string) => `${text.replace(NEW_NAMES, '')}${OLD_NAMES[check.id] ?? ''}`;
  return {
    ...check,
    clause: oldClause(check),
    remedy: oldRemedy(check.remedy),
    async run(context) {
      const finding = await check.run(context);
      return { ...finding, remedy: finding.remedy && oldRemedy(finding.remedy) };
    },
  };
}

function oldClause({ id, clause: { at, words }, expected }: Check): Clause {
  if (at.includes('basic/patterns') && !CLAUSES[id])
    return recommend('a recommendation', expected, OLD_REVISION);
  return CLAUSES[id] ?? { at: at.replace(REVISION, OLD_REVISION), words };
}

/** The finding of a check that does not apply to a server of the earlier revision, or undefined. */
export const notOnOldServer = ({ id }: Check) =>
  ABOUT_USER.test(id) ? undefined : notApplicable(OLD_SERVER);
