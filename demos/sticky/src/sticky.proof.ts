/** The whole demo, with and without its rule. `sticky.test.ts` has the rule alone. */
import { expect, test } from 'vitest';
import { haproxyVersion } from './haproxy.ts';
import { sticky } from './sticky.ts';

const installed = haproxyVersion() !== undefined;
const WHY = installed ? '' : ' (SKIPPED: haproxy is not installed here; apt-get install haproxy)';

test.skipIf(!installed)(
  `\`pnpm demo sticky\` shows calls that finish with the rule, and one that does not without it${WHY}`,
  async () => {
    let out = '';
    let err = '';
    const code = await sticky({
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [rule, none] = out.split('\n without it');
    const stayed = rule?.match(/call \d {3}round 1 → (i\d) {3}round 2 → \1 {3}round 3 → \1\n/g) ?? [];
    expect(new Set(stayed.map((line) => /i\d/.exec(line)?.[0]))).toEqual(new Set(['i1', 'i2', 'i3']));
    expect(rule?.match(/#4522 resolved as Duplicate of #4301\./g)).toHaveLength(3);
    expect(rule).toMatch(/echoed: v1\..{10}…~i\d\n/);
    expect(none).toMatch(
      /call 1 {3}round 1 → (i\d) {3}round 2 → (?!\1)i\d\n +✗ This call cannot be resumed here:/,
    );
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  },
  60_000,
);
