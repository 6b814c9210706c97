/** The scripts of a ledger on Redis. */
import { CLOCK, INDEX, KEEP } from './redis-keys.ts';

// One field of INFO; empty if Redis rejects INFO.
const INFO = `local function info(section, field)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and string.match(text, field .. ':(%w+)') or ''
end
`;

// The time when the ledger began, in a hash without expiry:
//   at       milliseconds since the epoch
//   raised   '1' if the clock skew was added to it
//   replid   the master_replid of the Redis that wrote it; empty if Redis rejects INFO
//   run      its run_id
// Redis gets another master_replid when it restarts, when it is promoted, and when its first replica attaches. After the
// first two, the newest entries may be lost, so the ledger begins anew. Exceptions: a restart of a Redis that its operator
// calls durable, and a replica that attached, after which the run_id is the same. `master_replid2` is zero until a replica
// is promoted. A promoted replica begins anew in any case: its primary's settings do not apply to its own entries.
// A ledger that knew an earlier beginning adds the clock skew: a server whose clock is ahead may have issued a token that
// was used before the loss. It adds the skew once, even if a ledger that knew no beginning wrote this one.
//
// Returns the time, 'known' or 'begun', and whether there was none.
const BEGINNING = `${INFO}local function beginning(key, knew, skew, durable)
  local known = redis.call('HMGET', key, 'at', 'replid', 'raised')
  local before, raised = known[1] and tonumber(known[1]), known[3] or ''
  if before and knew and knew < before and raised ~= '1' then
    before, raised = before + skew, '1'
    redis.call('HSET', key, 'at', string.format('%d', before), 'raised', raised)
  end
  local replid = info('replication', 'master_replid')
  if before and (replid == '' or replid == known[2]) then return before, 'known', false end
  local run = info('server', 'run_id')
  local isSameRun = run ~= '' and redis.call('HGET', key, 'run') == run
  local isDurable = durable == '1' and info('persistence', 'aof_enabled') == '1'
  local isPromoted = not string.find(info('replication', 'master_replid2'), '^0+$')
  local at = now
  if before and (isSameRun or isDurable) and not isPromoted then
    at = before
  elseif before or knew then
    at, raised = math.max(before or 0, now + skew), '1'
  end
  redis.call('HSET', key, 'at', string.format('%d', at), 'raised', raised, 'replid', replid, 'run', run)
  return at, 'begun', not before
end
`;

/** KEYS: the beginning. ARGV: the beginning that the ledger knew, the skew, and whether Redis is durable ('1'). */
export const BEGIN = `${CLOCK}${BEGINNING}
local at = beginning(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3])
return at
`;

/**
 * KEYS: the entry, the index of all entries, the index of the principal's, and the beginning. ARGV: id, answers, expiry,
 * lease in ms, the server's clock, skew, the two limits, the pseudonym ('': anonymous), the lease's id, the
 * time of issue, the beginning that the ledger knew ('': none), and whether Redis is durable ('1'). Returns the kind, its two
 * texts, and, if the script read the beginning, its time and 'known' or 'begun'.
 *
 * A full Redis rejects a script only at its first write, and only if that needs memory. So write the entry first.
 */
export const LEASE = `${CLOCK}${BEGINNING}${INDEX}
local skew = tonumber(ARGV[6])
local by = tonumber(ARGV[5]) - now
if math.abs(by) > skew then return { 'clock-differs', string.format('%d', by) } end
local entry = redis.call('HMGET', KEYS[1], 'lease', 'result', 'answers')
if entry[2] then return { 'settled', entry[2], entry[3] } end
if entry[1] then
  if now < tonumber(entry[1]) then return { 'in-flight' } end
  return { 'lost' }
end
local expires = tonumber(ARGV[3])
if now >= expires then return { 'expired' } end
local at, beginningWas, isFirst = beginning(KEYS[4], tonumber(ARGV[12]), skew, ARGV[13])
if isFirst or tonumber(ARGV[11]) - math.max(0, by) < at then return { 'older-than-ledger', '', '', at, beginningWas } end
local forget = string.format('%d', expires + skew)
local lease = string.format('%d', now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[1], 'lease', lease, 'lease_id', ARGV[10], 'answers', ARGV[2], 'pseudonym', ARGV[9])
for index = 2, 3 do
  if is_full(KEYS[index], ARGV[5 + index]) then
    redis.call('DEL', KEYS[1])
    return { index == 2 and 'all' or 'own', '', '', at, beginningWas }
  end
end
for index = 2, 3 do enter(KEYS[index], ARGV[1], forget) end
redis.call('PEXPIREAT', KEYS[1], forget)
return { 'first', '', '', at, beginningWas }
`;

/**
 * Redis deletes expired keys. A late result must not create the key again: it would stay for ever. KEYS: the entry, and the
 * sizes of all results. ARGV: the lease's id, the result, and the limits of all and of one principal, in bytes. Sizes are
 * summed by their time of expiry, in at most 17 steps per time to live, so that the script can subtract expired ones. A
 * result over the limit ends the lease: a served token must not be released. A full Redis also records the result, because
 * the handler has run.
 */
export const SETTLE = `#!lua flags=allow-oom
local entry = redis.call('HMGET', KEYS[1], 'lease_id', 'result', 'pseudonym')
if entry[1] ~= ARGV[1] or entry[2] then return end
${CLOCK}${KEEP}local forget = redis.call('PEXPIRETIME', KEYS[1])
local step = 60000
while step * 16 < forget - now do step = step * 2 end
local field = string.format('%d', math.ceil(forget / step) * step)
local sizes = { KEYS[2] }
if entry[3] ~= '' then sizes[2] = KEYS[2] .. ':' .. entry[3] end
for index, key in ipairs(sizes) do
  local held = #ARGV[2]
  local known = redis.call('HGETALL', key)
  for at = 1, #known, 2 do
    if tonumber(known[at]) < now then redis.call('HDEL', key, known[at]) else held = held + known[at + 1] end
  end
  if held > tonumber(ARGV[2 + index]) then
    redis.call('HSET', KEYS[1], 'lease', '0')
    redis.call('HDEL', KEYS[1], 'lease_id')
    return
  end
end
for _, key in ipairs(sizes) do
  redis.call('HINCRBY', key, field, #ARGV[2])
  keep(key, field)
end
redis.call('HSET', KEYS[1], 'result', ARGV[2])
`;

/** KEYS: the entry, and the index of all entries. ARGV: the lease's id, and the token's. */
export const RELEASE = `local entry = redis.call('HMGET', KEYS[1], 'lease_id', 'result', 'pseudonym')
if entry[1] ~= ARGV[1] or entry[2] then return end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
if entry[3] ~= '' then redis.call('ZREM', KEYS[2] .. ':' .. entry[3], ARGV[2]) end
`;
