/** The users of the site. */

/** The holder of a secret is that user: at the MCP server, as an access token, and at the site's own sign-in. */
export const SECRETS = { ada: 'the-secret-of-ada', mallory: 'the-secret-of-mallory' } as const;

export type UserName = keyof typeof SECRETS;
