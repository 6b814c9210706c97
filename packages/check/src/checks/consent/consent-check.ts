/** Builds the checks of consent. Says what each way to ask proves, and what defeats it. */
import { type CheckParts, defineCheck, type Finding, isFault } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { type ConsentKind, consentKindOfAll } from '../../observations/consents.ts';

const FORM =
  'Ask by one required choice, the refusal first and without a default; a client or a model that picks the affirmative ' +
  'choice defeats it. In TypeScript: `approval` of @mrtr/core.';
const PAGE =
  'More proves a page of your server that asks; an agent that drives the browser, or a weak sign-in, defeats it. In ' +
  'TypeScript: `approvalPage` of @mrtr/pages.';
const MORE = 'docs/consent.md has what each of them proves.';

/** The advice for each kind of consent: the stronger kinds. */
const CLIMB: Readonly<Record<ConsentKind, string>> = {
  form: `${FORM} ${PAGE} ${MORE}`,
  choice: `${PAGE} ${MORE}`,
  page:
    'Ask on the page for a second proof, as a passkey; what defeats that proof defeats it. In TypeScript: `verify` of ' +
    `\`approvalPage\` in @mrtr/pages. ${MORE}`,
};

const DEFEATED: Readonly<Record<ConsentKind, string>> = {
  form: 'A form proves what the client says; a client that answers by itself defeats it.',
  choice: 'A form with a choice proves which one the client sent; a client that picks the yes defeats it.',
  page: 'A page proves that a browser pressed; an agent that drives the browser defeats it. It was not opened.',
};

type ConsentParts = Omit<CheckParts, 'remedy'> & {
  /** The remedy for every kind of consent. */
  readonly mend: string;
};

/** Makes a check of consent. It fails with `--needs-consent`, and is advice otherwise. What only a text shows is a warning. */
export const consentCheck = (
  name: string,
  { mend, needs = [], run, judgeReceived, ...parts }: ConsentParts,
) =>
  defineCheck(`consent.${name}`, 'A', {
    ...parts,
    remedy: `${mend} ${CLIMB.form}`,
    needs: ['consent', ...needs],
    run: async (context) => judgeConsent(context, mend, await run(context)),
    ...(judgeReceived && {
      judgeReceived: async (context) => {
        const finding = await judgeReceived(context);
        return finding && judgeConsent(context, mend, finding);
      },
    }),
  });

/** The kind of consent of the honest calls. */
export const consentKindOf = ({ facts }: CheckContext) =>
  consentKindOfAll(facts.questions.map(({ request }) => request));

function judgeConsent(context: CheckContext, mend: string, finding: Finding): Finding {
  const { inputs } = context;
  const kind = consentKindOf(context);
  if (finding.verdict === 'pass') return { ...finding, actual: `${finding.actual}. ${DEFEATED[kind]}` };
  if (!isFault(finding)) return finding;
  const remedy = `${mend} ${CLIMB[kind]}`;
  if (finding.verdict === 'warn') return { ...finding, remedy };
  const declared = inputs.needsConsent ? '' : ' With --needs-consent this is a fail.';
  const verdict = inputs.needsConsent ? 'fail' : 'advice';
  return { ...finding, verdict, actual: `${finding.actual}${declared}`, remedy };
}
