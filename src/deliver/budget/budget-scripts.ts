/**
 * The fleet's budget as scripts, on the clock of the Redis server.
 *
 * KEYS: 1 state (hash), 2 grants (sorted set), 3 queue (sorted set), 4 slow-down (string); sorted sets of the run
 * ids of servers whose files this one took over: 5 those that were stopped in order, 6 those that crashed.
 * ARGV: 1 the time in ms; empty for that of the Redis server, as everywhere outside of tests.
 * - A grant is a member `<id>:<events>`; its score is the time until which it counts.
 * - `sum` in the state is the sum of all grants' events, so that a call does not add up the grants.
 * - `next` is the time from which pacing allows the next grant.
 * - `server` is the run id of the Redis that keeps the count, and there is a field `count:<id>` for the id of
 *   every staging that uses it (see OPEN). Another server that did not take over its files, an unknown id, or
 *   state and grants that do not match mean that grants may be missing (wiped, failed over to a replica): the
 *   count is lost, and nothing is granted until `closed`.
 * - A server that took over the files of a crashed one misses at most its last writes. Pacing bounds what was
 *   granted by them, and that much is counted as spent: one block for each crash.
 * - `seen` is the time of the last call of TAKE. A clock that is behind it was set back: all times are moved back
 *   as far, as if none had passed since that call, so they count too long rather than too short. Otherwise nobody
 *   could send until the clock is again where it was.
 * - A clock that is set forward lets grants expire early, and then pacing alone bounds what is granted. So what it
 *   passed over is not idle time that is made up for: whoever waits in front would be late by it.
 * - The queue holds the waiting processes in order of arrival, so that small requests cannot starve a
 *   large one; `at:<who>` is the time at which a process is to call again. One that is late loses its place.
 *
 * Proof that no window of `windowMs` at the destination can hold more than the cap: a request arrives
 * between its grant and its settling, and counts from its grant until `settled + windowMs`. Take any
 * window and, of the requests that arrived in it, the one granted last. All others were granted before
 * it and cannot have settled more than `windowMs` before it, so they all counted when it was granted,
 * and it was granted only because the sum including it was within the cap. Requests that never settle
 * (dead workers) count until no request of that age can be alive, plus a window.
 *
 * The block of a crash: `next` moves by events * window / cap with each grant, and never lags more than a tenth of
 * the window behind. In a stretch of `unrecorded` ms at most (unrecorded + window / 10) * cap / window events are
 * granted, and one permit.
 *
 * The cost: a permit is also occupied while its request runs, so the utilisation of the budget is
 * windowMs / (windowMs + request time): above 90% while requests take less than a ninth of the window.
 */

/** A clock that goes back by less than this is waited for. */
const STEP_MS = 1000;

const PRELUDE = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local seen = tonumber(redis.call('HGET', KEYS[1], 'seen') or 0)
if now + ${STEP_MS} < seen then
  local back = now - seen
  local grants = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
  for i = 1, #grants, 2 do redis.call('ZINCRBY', KEYS[2], back, grants[i]) end
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    local name = fields[i]
    if name == 'next' or name == 'closed' or string.sub(name, 1, 3) == 'at:' then
      redis.call('HSET', KEYS[1], name, tonumber(fields[i + 1]) + back)
    end
  end
  local slow = tonumber(redis.call('GET', KEYS[4]) or 0) + back
  if slow > now then redis.call('SET', KEYS[4], slow, 'PX', math.ceil(slow - now)) end
  redis.call('HSET', KEYS[1], 'seen', now)
end
`;

const SERVER = `string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or 'unknown'`;

/**
 * ARGV: 2 id for the count. Begins a count where there is none, and returns the id of the one that there is.
 * For a destination that nobody has sent to: all processes call this before they write that somebody has
 * (src/migrations/agree-on-count.ts), so a count that is missing afterwards was lost, whoever asks.
 */
export const OPEN = `${PRELUDE}
local known = redis.call('HGET', KEYS[1], 'id')
if known then return known end
redis.call('HSET', KEYS[1], 'id', ARGV[2], 'count:' .. ARGV[2], 1)
redis.call('HSETNX', KEYS[1], 'server', ${SERVER})
return ARGV[2]
`;

/** Reasons to wait, indexed by the second value that TAKE returns. */
export const WAIT_REASONS = ['granted', 'pace', 'window', 'slow_down', 'count_lost', 'queue'] as const;

/**
 * ARGV: 2 who, 3 grant id, 4 events, 5 cap, 6 windowMs, 7 requestTimeoutMs, 8 id of the count, 9 grace of a place
 * in the queue in ms, 10 longest stretch of writes that a crash loses in ms, 11 most permits of a window.
 * Returns {wait in ms, index into WAIT_REASONS}; a wait of 0 is a grant.
 *
 * After a loss every process waits for the longer of window and request timeout. By then every grant from
 * before the loss has settled or is dead: one that settled before the loss is more than a window old, and
 * one that settled after it was added to the log again by SETTLE.
 */
export const TAKE = `${PRELUDE}
local who, id, events, cap = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local window, timeout, count, grace = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9])
local member = id .. ':' .. events

local server = ${SERVER}
local state = redis.call('HMGET', KEYS[1], 'server', 'sum', 'next', 'closed', 'cap', 'count:' .. count)
local sum, nextAt, closed = tonumber(state[2] or 0), tonumber(state[3] or 0), tonumber(state[4] or 0)

-- When the files of the server that kept the count were taken over; false where nobody did.
local since = state[1] and (redis.call('ZSCORE', KEYS[5], state[1]) or redis.call('ZSCORE', KEYS[6], state[1]))
local isContinued = state[1] and (state[1] == server or since)
if not isContinued or not state[6] or (redis.call('ZCARD', KEYS[2]) == 0 and sum > 0) then
  closed = now + math.max(window, timeout)
  sum = 0
  for _, grant in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    sum = sum + tonumber(string.match(grant, ':(%d+)$'))
  end
elseif state[1] ~= server then
  local most = math.max(cap, tonumber(state[5] or 0))
  local block = (tonumber(ARGV[10]) + window / 10) * most / window + math.max(1, most / tonumber(ARGV[11]))
  local spent = math.min(most, math.ceil(redis.call('ZCOUNT', KEYS[6], since, '+inf') * block))
  if spent > 0 then
    redis.call('ZADD', KEYS[2], now + timeout + window, 'crash-' .. server .. ':' .. spent)
    sum = sum + spent
  end
end

local expired = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. now)
for _, grant in ipairs(expired) do sum = sum - tonumber(string.match(grant, ':(%d+)$')) end
if #expired > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. now) end

local function save()
  local fields = {'server', server, 'sum', sum, 'next', nextAt, 'closed', closed, 'cap', cap, 'seen', now}
  redis.call('HSET', KEYS[1], 'count:' .. count, 1, unpack(fields))
end

-- The reply to an earlier call with this id was lost: its grant is valid.
if redis.call('ZSCORE', KEYS[2], member) then
  save()
  return {0, 0}
end

local head
while true do
  head = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if not head then break end
  local at = tonumber(redis.call('HGET', KEYS[1], 'at:' .. head) or 0)
  if at + window / 10 < now then nextAt = math.max(nextAt, now) end
  if head == who or at + grace >= now then break end
  redis.call('ZREM', KEYS[3], head)
  redis.call('HDEL', KEYS[1], 'at:' .. head)
end

local at, reason = now, 0
local function later(moment, why)
  if moment > at then at, reason = moment, why end
end

if head and head ~= who then
  -- Just after the process in front; while that one is late, every 50 ms.
  local front = tonumber(redis.call('HGET', KEYS[1], 'at:' .. head) or 0)
  local rank = redis.call('ZRANK', KEYS[3], who) or redis.call('ZCARD', KEYS[3])
  later(math.max(front + 10 * rank, front < now and now + 50 or now + 10), 5)
else
  later(nextAt, 1)
  local over = sum + events - cap
  if over > 0 then
    local first = 0
    while over > 0 do
      local page = redis.call('ZRANGE', KEYS[2], first, first + 31, 'WITHSCORES')
      if #page == 0 then break end
      for i = 1, #page, 2 do
        over = over - tonumber(string.match(page[i], ':(%d+)$'))
        -- A grant that is not settled counts for at least another window.
        later(math.min(tonumber(page[i + 1]) + 1, now + window), 2)
        if over <= 0 then break end
      end
      first = first + 32
    end
  end
  later(tonumber(redis.call('GET', KEYS[4]) or 0), 3)
  later(closed, 4)
end

if at > now then
  if not redis.call('ZSCORE', KEYS[3], who) then
    redis.call('ZADD', KEYS[3], redis.call('HINCRBY', KEYS[1], 'queued', 1), who)
  end
  redis.call('HSET', KEYS[1], 'at:' .. who, at)
  save()
  return {math.ceil(at - now), reason}
end

redis.call('ZADD', KEYS[2], now + timeout + window, member)
sum = sum + events
-- Idle time is made up for by at most a tenth of the window.
nextAt = math.max(nextAt, now - window / 10) + events * window / cap
redis.call('ZREM', KEYS[3], who)
redis.call('HDEL', KEYS[1], 'at:' .. who)
save()
return {0, 0}
`;

/**
 * ARGV: 2 grant id, 3 events, 4 windowMs. A grant that is missing in the log is added again. Where it is the first of
 * a log that was lost, state and grants would seem to match: then nobody keeps the count, and TAKE takes it as lost.
 */
export const SETTLE = `${PRELUDE}
local member = ARGV[2] .. ':' .. ARGV[3]
if redis.call('EXISTS', KEYS[2]) == 0 and tonumber(redis.call('HGET', KEYS[1], 'sum') or 0) > 0 then
  redis.call('HDEL', KEYS[1], 'server')
end
if redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), member) == 1 then
  if redis.call('HEXISTS', KEYS[1], 'server') == 1 then
    redis.call('HINCRBY', KEYS[1], 'sum', ARGV[3])
  end
end
return 1
`;

/**
 * ARGV: 2 grant id, 3 events, 4 windowMs, 5 requestTimeoutMs. Counts a grant whose request has not begun as one that is
 * given now; it has counted all the time, so the proof above holds. Returns 0 for one that nobody may use now: it no
 * longer counts, or everybody waits.
 */
export const RENEW = `${PRELUDE}
local member = ARGV[2] .. ':' .. ARGV[3]
local closed = tonumber(redis.call('HGET', KEYS[1], 'closed') or 0)
if now < math.max(closed, tonumber(redis.call('GET', KEYS[4]) or 0)) then return 0 end
if not redis.call('ZSCORE', KEYS[2], member) then return 0 end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]) + tonumber(ARGV[5]), member)
return 1
`;

/** ARGV: 2 who. Gives up the place in the queue. */
export const LEAVE = `
redis.call('ZREM', KEYS[3], ARGV[2])
redis.call('HDEL', KEYS[1], 'at:' .. ARGV[2])
return 1
`;

/** ARGV: 2 ms. A shorter slow-down never ends a longer one. */
export const SLOW_DOWN = `${PRELUDE}
local untilMs = now + tonumber(ARGV[2])
if untilMs > tonumber(redis.call('GET', KEYS[4]) or 0) then
  redis.call('SET', KEYS[4], untilMs, 'PX', ARGV[2])
end
return 1
`;
