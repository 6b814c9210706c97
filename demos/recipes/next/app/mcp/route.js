/** The route of `/mcp`. */
export { DELETE, GET, POST } from '../../../src/on-next-with-users.ts';
