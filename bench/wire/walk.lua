-- Walks through the requests of a file, one a line, over and over: wrk … URL -- FILE KEY [STATUS CODING]
-- Behind the target stand, each behind a tab, a body, which makes a POST request unless it is empty, and header fields.
-- With a status, answers of another one or of another content coding are counted as strange.
local requests, place, threads = {}, 0, {}

function setup(thread)
  threads[#threads + 1] = thread
end

local function formatted(line, key)
  local cells = {}
  for cell in (line .. "\t"):gmatch("([^\t]*)\t") do
    cells[#cells + 1] = cell
  end
  local target, body, headers = cells[1], cells[2] or "", { ["x-api-key"] = key }
  for number = 3, #cells do
    local name, value = cells[number]:match("^(.-): (.*)$")
    headers[name] = value
  end
  return body == "" and wrk.format("GET", target, headers) or wrk.format("POST", target, headers, body)
end

local function watch(status, coding)
  strange = 0
  function response(answered, headers)
    if answered ~= status or (headers["Content-Encoding"] or "") ~= coding then
      strange = strange + 1
    end
  end
end

function init(args)
  for line in io.lines(args[1]) do
    requests[#requests + 1] = formatted(line, args[2])
  end
  if args[3] then
    watch(tonumber(args[3]), args[4])
  end
end

function request()
  place = place % #requests + 1
  return requests[place]
end

function done(summary, latency)
  local errors, strange = summary.errors, 0
  for _, thread in ipairs(threads) do
    strange = strange + (thread:get("strange") or 0)
  end
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d,"strange":%d,"median_microseconds":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, strange, latency:percentile(50)
  ))
end
