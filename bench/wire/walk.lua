-- Walks through the request targets of a file, one a line, over and over: wrk … URL -- FILE KEY
-- A tab behind a target and a body behind that make a POST request.
local requests, place = {}, 0

function init(args)
  wrk.headers["x-api-key"] = args[2]
  for line in io.lines(args[1]) do
    local target, body = line:match("^([^\t]*)\t(.*)$")
    requests[#requests + 1] = body and wrk.format("POST", target, nil, body) or wrk.format("GET", line)
  end
end

function request()
  place = place % #requests + 1
  return requests[place]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d,"median_microseconds":%d}\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50)
  ))
end
