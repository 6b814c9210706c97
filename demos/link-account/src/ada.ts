/** `@mrtr/demo-link-account/ada`: the user of the demo. */
import type { User } from '@mrtr/harness';
import { Person } from './person.ts';

/** What ada does when she is asked to open the page: `forgets` opens it the second time only. */
export type Does = 'links' | 'forgets' | 'says no there' | 'declines' | 'cancels';

export function ada(does: Does): NonNullable<User['open']> {
  const person = new Person('ada');
  let asked = 0;
  return async ({ url }) => {
    if (does === 'declines' || does === 'cancels')
      return { action: does === 'declines' ? 'decline' : 'cancel' };
    asked += 1;
    if (does !== 'forgets' || asked > 1) await person.link(url, does === 'says no there' ? 'no' : 'yes');
    return { action: 'accept' };
  };
}
