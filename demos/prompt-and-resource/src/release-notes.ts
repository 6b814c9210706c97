/** The prompt without the protocol: what it takes, what it asks, what it says. */
import type { GetPromptResult } from '@mrtr/core';
import { z } from 'zod';

/** How the prompt is announced. */
export const releaseNotes = {
  description: 'Drafts release notes. Asks who will read them.',
  argsSchema: z.object({ version: z.string() }),
};

/** The answer to "Who will read them?". */
export const Audience = z.object({ audience: z.enum(['developers', 'customers']) });

/** For a client that cannot be asked. */
export const DEFAULT_AUDIENCE: z.output<typeof Audience> = { audience: 'customers' };

/** The prompt itself. */
export const draft = (version: string, { audience }: z.output<typeof Audience>): GetPromptResult => ({
  messages: [
    {
      role: 'user',
      content: { type: 'text', text: `Write the notes of release ${version}, for ${audience}.` },
    },
  ],
});
