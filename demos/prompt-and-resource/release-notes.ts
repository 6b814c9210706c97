/** The prompt without the protocol: its arguments, its question and its text. */
import type { GetPromptResult } from '@modelcontextprotocol/server';
import { elicitation } from '@mrtr/core';
import { z } from 'zod';

/** The prompt's definition. */
export const releaseNotes = {
  description: 'Drafts release notes. Asks who will read them.',
  argsSchema: z.object({ version: z.string() }),
};

const Audience = z.object({ audience: z.enum(['developers', 'customers']).meta({ title: 'Readers' }) });

export type ReleaseArguments = z.output<typeof releaseNotes.argsSchema>;

/** The question. A client that cannot be asked gets notes for customers. */
export const whichAudience = elicitation('Who will read them?', Audience, {
  fallback: { audience: 'customers' },
});

/** The prompt itself. */
export const draft = (version: string, { audience }: z.output<typeof Audience>): GetPromptResult => ({
  messages: [
    {
      role: 'user',
      content: { type: 'text', text: `Write the notes of release ${version}, for ${audience}.` },
    },
  ],
});
