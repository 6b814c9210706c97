/** The property of outgoing state: it leaves sealed and within its limit, or not at all. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { hostileJson, hostileText, outsized } from './hostile-values.ts';
import { keeping, policyOf, siteWith } from './sites.ts';
import { onTheWire } from './tokens.ts';

const anyState = fc.oneof(
  { weight: 40, arbitrary: hostileText },
  { weight: 20, arbitrary: fc.nat(1300).map((length) => 'x'.repeat(length)) },
  { weight: 10, arbitrary: hostileJson },
  { weight: 1, arbitrary: outsized },
);
const anyLabel = fc.option(fc.oneof(fc.stringMatching(/^[A-Za-z0-9][\w.-]{0,63}$/), hostileText), {
  nil: undefined,
});

const MAX_BYTES = 1000;
const CANNOT_KEEP = {
  code: -32603,
  message: 'The server cannot keep the state of this call',
  data: undefined,
};

/** Arbitrary state and labels of an author. */
export function onlySealedLeaves() {
  const site = siteWith(policyOf({ keys: ['k'.repeat(32)], maxBytes: MAX_BYTES }), 'shop');
  return fc.asyncProperty(anyState, anyLabel, async (state, label) => {
    const request = { method: 'tools/call', target: 'keep' } as const;
    let result: unknown;
    try {
      result = await site.request(request, keeping(state, label));
    } catch (error) {
      const invalidLabel = (error as { code?: unknown }).code === 'invalid_label';
      if (!invalidLabel && !isDeepStrictEqual(onTheWire(error), CANNOT_KEEP)) throw error;
      return;
    } finally {
      site.log();
    }
    const { requestState } = result as { requestState?: string };
    if (state === undefined) return;
    const sealed = /^v1\.[\w-]{75,}(?:~[A-Za-z0-9][\w.-]{0,63})?$/.test(requestState ?? '');
    if (!sealed || (requestState as string).length > MAX_BYTES) throw new Error(`Out goes ${requestState}`);
    const back = await site.request({ ...request, state: requestState }, (ctx) => ctx.mcpReq.requestState());
    if (back !== state) throw new Error('The handler gets another state than it kept.');
  });
}
