/** Users whom your application's own sign-in knows. The mount serves nobody else. */
import { requireBearerAuth } from '@modelcontextprotocol/server';
import { createMcpMount } from '@mrtr/hosting/http';
import { served, verifier } from './authenticated.ts';

/** Stands for your sign-in: it returns the caller, or the response to a request without a valid token. */
export const signIn = requireBearerAuth({ verifier });

/** Rejects a request in which your route has left no caller, and tells `onerror` where it reads one. */
export const mcp = createMcpMount(served, {
  anonymous: 'reject',
  onerror: (error) => console.error(error.message),
});
