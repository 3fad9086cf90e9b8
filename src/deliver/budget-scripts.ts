/**
 * The fleet's budget as three scripts, on the clock of the Redis server.
 *
 * KEYS: 1 state (hash), 2 grants (sorted set), 3 queue (sorted set), 4 slow-down (string), 5 run ids of
 * the servers that were stopped in order before this one took over their files (sorted set).
 * - A grant is a member `<id>:<events>`, its score the time until which it counts.
 * - `sum` in the state is the sum of all grants' events, so that none has to be added up again.
 * - `next` is the time from which pacing allows the next grant.
 * - `server` is the run id of the Redis that keeps the count. Another id, or state and grants that do
 *   not fit together, mean that grants may be missing (wiped, restarted after a crash, failed over to
 *   a replica): the count is lost, and `closed` holds everyone off.
 * - The queue holds who waits, first come first, so that small requests cannot starve a large one;
 *   `at:<who>` is when that one was told to ask again. Who does not ask in time loses the place.
 *
 * Why no window of `windowMs` at the destination can hold more than the cap: a request arrives
 * between its grant and its settling, and counts from its grant until `settled + windowMs`. Take any
 * window and, of the requests that arrived in it, the one granted last. All others were granted
 * before it and cannot have settled more than `windowMs` before it, so they all counted when it was
 * granted, and the script let it pass only because the sum with it stayed within the cap. Those who
 * never settle (dead workers) count until no request of that age can be alive, plus a window.
 *
 * The price: a permit is bound for the time of its request as well, so the use of the budget is
 * windowMs / (windowMs + request time); above 90% while requests take less than a ninth of the window.
 */

const PRELUDE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Reasons to wait, in the order of the script's second answer. */
export const WAIT_REASONS = ['granted', 'pace', 'window', 'slow_down', 'count_lost', 'queue'] as const;

/**
 * ARGV: 1 who, 2 grant id, 3 events, 4 cap, 5 windowMs, 6 requestTimeoutMs, 7 first use ever (1/0),
 * 8 grace of a place in the queue, ms.
 * Answers {wait in ms, index into WAIT_REASONS}; a wait of 0 is a grant.
 *
 * After a loss everyone waits for the longer of window and request timeout. All that was granted
 * before the loss has settled by then or is dead: what settled before the loss is more than a window
 * old, and what settled after it was put back into the log by SETTLE.
 */
export const TAKE = `${PRELUDE}
local who, id, events, cap = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local window, timeout, grace = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local member = id .. ':' .. events

local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or 'unknown'
local state = redis.call('HMGET', KEYS[1], 'server', 'sum', 'next', 'closed')
local sum, nextAt, closed = tonumber(state[2] or 0), tonumber(state[3] or 0), tonumber(state[4] or 0)

local grants = redis.call('ZCARD', KEYS[2])
local fresh = not state[1]
if fresh and grants == 0 and ARGV[7] == '1' then
  closed = 0
elseif fresh or (state[1] ~= server and not redis.call('ZSCORE', KEYS[5], state[1])) or (grants == 0 and sum > 0) then
  closed = now + math.max(window, timeout)
  sum = 0
  for _, grant in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    sum = sum + tonumber(string.match(grant, ':(%d+)$'))
  end
end

local expired = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. now)
for _, grant in ipairs(expired) do sum = sum - tonumber(string.match(grant, ':(%d+)$')) end
if #expired > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. now) end

local function save()
  redis.call('HSET', KEYS[1], 'server', server, 'sum', sum, 'next', nextAt, 'closed', closed)
end

-- The answer to an earlier call with this id was lost on its way: it holds.
if redis.call('ZSCORE', KEYS[2], member) then
  save()
  return {0, 0}
end

local head
while true do
  head = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  if not head or head == who then break end
  local at = tonumber(redis.call('HGET', KEYS[1], 'at:' .. head) or 0)
  if at + grace >= now then break end
  redis.call('ZREM', KEYS[3], head)
  redis.call('HDEL', KEYS[1], 'at:' .. head)
end

local at, reason = now, 0
local function later(moment, why)
  if moment > at then at, reason = moment, why end
end

if head and head ~= who then
  -- Right behind the one in front; a late one is looked for at a leisurely pace.
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
        -- What is not settled yet cannot stop counting within a window, and may then.
        later(math.min(tonumber(page[i + 1]) + 1, now + window), 2)
        if over <= 0 then break end
      end
      first = first + 32
    end
  end
  later(now + math.max(redis.call('PTTL', KEYS[4]), 0), 3)
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
-- An idle moment may be made up for, by a tenth of the window at most.
nextAt = math.max(nextAt, now - window / 10) + events * window / cap
redis.call('ZREM', KEYS[3], who)
redis.call('HDEL', KEYS[1], 'at:' .. who)
save()
return {0, 0}
`;

/** ARGV: 1 grant id, 2 events, 3 windowMs. A grant that the log has lost is counted again. */
export const SETTLE = `${PRELUDE}
local member = ARGV[1] .. ':' .. ARGV[2]
if redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), member) == 1 then
  if redis.call('HEXISTS', KEYS[1], 'server') == 1 then
    redis.call('HINCRBY', KEYS[1], 'sum', ARGV[2])
  end
end
return 1
`;

/** ARGV: 1 who. Gives a place in the queue back. */
export const LEAVE = `
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[1], 'at:' .. ARGV[1])
return 1
`;

/** ARGV: 1 ms. A shorter slow-down never ends a longer one. */
export const SLOW_DOWN = `
if redis.call('PTTL', KEYS[4]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[4], '1', 'PX', ARGV[1])
end
return 1
`;
