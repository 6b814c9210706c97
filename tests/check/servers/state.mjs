/** Seals and opens the state of the bare server, bound to request, principal and expiry. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { faulty, now, options } from './world.mjs';

const BOOTED = now();
export const INSTANCE = options.http ?? process.pid;
const KEY = createHash('sha256').update(options.key).digest();
export const digest = (value) => createHash('sha256').update(JSON.stringify(value)).digest('base64url');

export function seal(payload) {
  const text = Buffer.from(JSON.stringify(payload));
  if (signed()) {
    const body = text.toString('base64url');
    return `${body}.${createHmac('sha256', KEY).update(body).digest('base64url')}`;
  }
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', KEY, iv);
  const sealed = Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return sealed.toString('base64url');
}

const signed = () => faulty('state.readable') || faulty('state.forged');

function unseal(token) {
  if (signed()) {
    const [body = '', signature = ''] = token.split('.');
    const expected = createHmac('sha256', KEY).update(body).digest('base64url');
    const given = Buffer.from(signature);
    const stripped = faulty('state.forged') && signature === '';
    if (!stripped && (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))))
      throw new Error('bad signature');
    if (token.split('.').length > 2 || (!stripped && token !== `${body}.${expected}`))
      throw new Error('bad shape');
    return JSON.parse(Buffer.from(body, 'base64url').toString());
  }
  const bytes = Buffer.from(token, 'base64url');
  if (!faulty('state.aliased') && bytes.toString('base64url') !== token) throw new Error('another spelling');
  const decipher = createDecipheriv('aes-256-gcm', KEY, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  const text = decipher.update(bytes.subarray(12, -16));
  // `final` verifies the tag.
  return JSON.parse(faulty('state.tampered') ? text : Buffer.concat([text, decipher.final()]));
}

export class Refused extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const INVALID = 'The state of this call is not valid.';
let burntAt = 0;
export const refuse = (reason) => {
  if (options.burns) burntAt = now();
  return refusal(reason);
};
const refusal = (reason) => new Refused(-32602, faulty('state.oracle') ? `${INVALID} (${reason})` : INVALID);

export function operationOf({ params: { name, uri = '', arguments: args = {} } }) {
  if (name !== undefined) return { name, args };
  const [operation, to, amount] = uri.replace('bank://', '').split('/');
  return { name: operation, args: { to, amount } };
}

export function requestOf(request) {
  const { name, args } = operationOf(request);
  const bound = [request.method, name, args];
  if (faulty('state.other-tool')) bound[1] = '';
  if (faulty('state.other-method')) bound[0] = '';
  return digest(bound);
}

export function open(request, principal) {
  const { requestState } = request.params;
  if (typeof requestState !== 'string') throw refuse('it is no string');
  let payload;
  try {
    payload = unseal(requestState);
  } catch (error) {
    throw refuse(error.message);
  }
  if (payload.issued < burntAt) throw refusal('it was given up');
  // The fault: the first round, which leads to the consent, accepts other arguments.
  const unbound = payload.stage === 'account' && operationOf(request).name === 'transfer';
  if (faulty('state.other-arguments') && unbound) payload.for = requestOf(request);
  if (payload.for !== requestOf(request)) throw refuse('it belongs to another request');
  if (!faulty('state.other-principal') && payload.principal !== principal)
    throw refuse('it belongs to somebody else');
  if (!faulty('state.expired') && payload.expires < Date.now()) throw refuse('it has expired');
  if (faulty('instance.second') && payload.instance !== INSTANCE)
    throw refuse('it belongs to another instance');
  if (faulty('instance.restart') && payload.issued < BOOTED) throw refuse('it is older than this process');
  return payload;
}
