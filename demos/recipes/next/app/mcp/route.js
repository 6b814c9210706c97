/** The route of `/mcp`. */
export { DELETE, GET, POST } from '../../../on-next-with-users.ts';
