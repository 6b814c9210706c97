/** The checks of a server that speaks 2025-11-25 alone: those about its user. There, a call has no rounds and no state. */
import { type Check, type Clause, notApplicable } from '../judging/check.ts';

const ELICITATION = '2025-11-25, client/elicitation';

const ACTIONS: Clause = {
  at: `${ELICITATION}, response actions`,
  words:
    'Decline: User explicitly declined the request. Cancel: User dismissed without making an explicit choice. Servers ' +
    'should handle each state appropriately.',
};

const SCHEMA: Clause = {
  at: `${ELICITATION}, security considerations`,
  words: 'Both parties SHOULD validate elicitation content against the provided schema.',
};

/** The clause of the earlier revision for each check that cites the specification. The others are advice in both. */
const CLAUSES: Readonly<Record<string, Clause>> = {
  'capability.mode': {
    at: `${ELICITATION}, capabilities`,
    words: 'Servers MUST NOT send elicitation requests with modes that are not supported by the client.',
  },
  'capability.undeclared': {
    at: '2025-11-25, basic/lifecycle, operation',
    words: 'Both parties MUST … only use capabilities that were successfully negotiated.',
  },
  'refusal.no-effect': ACTIONS,
  'answer.invalid': SCHEMA,
  'answer.empty-accept': SCHEMA,
  'answer.refusal-with-content': ACTIONS,
};

/** Families of which every check is about the user. One of them adds rounds. */
const ABOUT_USER = /^(?:refusal|effect|consent|form)\.(?!per-round)/;

/** Where the author of such a server reads on. */
export const MIGRATE =
  'To support both revisions, see https://github.com/mrtr-shapes/mrtr-shapes/blob/main/docs/migrating.md';

const OLD_SERVER = `the server speaks 2025-11-25 alone, where a call has no rounds and no state. ${MIGRATE}`;

/** The check with the clause of the earlier revision. */
export const withOldClause = (check: Check) => ({
  ...check,
  clause: CLAUSES[check.id] ?? check.clause,
});

/** The finding of a check that does not apply to a server of the earlier revision, or undefined. */
export const notOnOldServer = ({ id }: Check) =>
  CLAUSES[id] || ABOUT_USER.test(id) ? undefined : notApplicable(OLD_SERVER);
