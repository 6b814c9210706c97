# Commands for docs/observability.md, one at a time, with REDIS_URL and, for the second, TOKEN.

# Redis: leases, as id, pseudonym and the end of the lease in milliseconds since the epoch
redis-cli -u "$REDIS_URL" EVAL "local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, 9999)) do
  local entry = redis.call('HMGET', ARGV[1] .. id, 'lease_id', 'result', 'pseudonym', 'lease')
  if entry[1] and not entry[2] then table.insert(found, id .. ' ' .. entry[3] .. ' ' .. entry[4]) end
end
return found" 1 mrtr:ledger:index mrtr:ledger:entry:

# Redis: release one
redis-cli -u "$REDIS_URL" EVAL "local entry = redis.call('HMGET', KEYS[1], 'lease_id', 'result', 'pseudonym')
if not entry[1] or entry[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
if entry[3] ~= '' then redis.call('ZREM', KEYS[2] .. ':' .. entry[3], ARGV[1]) end
return redis.call('DEL', KEYS[1])" 2 "mrtr:ledger:entry:$TOKEN" mrtr:ledger:index "$TOKEN"
