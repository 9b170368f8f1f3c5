-- Sends the requests of a file, one per line, in a loop: wrk … URL -- FILE KEY [STATUS CODING]
-- A line is a target and, separated by tabs, a body (a POST request unless it is empty) and header fields.
-- With STATUS, responses with another status or content coding are counted as unexpected.
local requests, position, threads = {}, 0, {}

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

local function check(status, coding)
  unexpected = 0
  function response(actual, headers)
    if actual ~= status or (headers["Content-Encoding"] or "") ~= coding then
      unexpected = unexpected + 1
    end
  end
end

function init(args)
  for line in io.lines(args[1]) do
    requests[#requests + 1] = formatted(line, args[2])
  end
  if args[3] then
    check(tonumber(args[3]), args[4])
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary)
  local errors, unexpected = summary.errors, 0
  for _, thread in ipairs(threads) do
    unexpected = unexpected + (thread:get("unexpected") or 0)
  end
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"errors":%d,"broken":%d,"unexpected":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, unexpected
  ))
end
