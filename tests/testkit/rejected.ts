/** The one response to rejected state, for any reason. */
export const REJECTED = {
  code: -32602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};
