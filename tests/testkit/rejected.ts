/** The frozen answer to any state that is not accepted, for whatever reason. */
export const REJECTED = {
  code: -32602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};
