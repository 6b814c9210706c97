/** Users who log in, in a Next application: what its `app/mcp/route.ts` exports. */
import { mcp, signIn } from './signed-in.ts';

async function serve(request: Request): Promise<Response> {
  const caller = await signIn(request);
  return caller instanceof Response ? caller : mcp.fetch(request, { authInfo: caller });
}

export { serve as DELETE, serve as GET, serve as POST };
