-- Asks `crawlpike serve` about a request, with the headers of Traefik. If it does not answer, the request passes.
local unix = require("socket.unix")

local SOCKET = "/run/crawlpike/http.sock"
local TIME = 1 -- seconds

local function set(...)
    local all = {}
    for _, name in ipairs({ ... }) do all[name] = true end
    return all
end

-- The headers of a request that are not part of a question, and those of an answer that are not for the client.
local OF_CONNECTION = set("connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade")
local NOT_FOR_CLIENT = set("connection", "content-length", "content-type", "date", "x-crawlpike")

-- The connection of this thread, if it has one.
local connection

local function question(r)
    local fields = {
        ["x-forwarded-for"] = r.useragent_ip,
        ["x-forwarded-host"] = r.headers_in["Host"] or "",
        ["x-forwarded-method"] = r.method,
        ["x-forwarded-proto"] = r.is_https and "https" or "http",
        -- Without the host that a client may have written in front of the path.
        ["x-forwarded-uri"] = r.unparsed_uri:gsub("^%a[%w+.-]*://[^/?]*", ""),
    }
    local lines = { "GET /traefik HTTP/1.1", "host: crawlpike" }
    for name, value in pairs(r:headers_in_table()) do
        local lower = name:lower()
        if not OF_CONNECTION[lower] and not fields[lower] then table.insert(lines, name .. ": " .. value) end
    end
    for name, value in pairs(fields) do table.insert(lines, name .. ": " .. value) end
    return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

-- An answer; nil if there is none.
local function receive(socket)
    local line = socket:receive()
    local status = line and tonumber(line:match("^HTTP/1%.1 (%d+)"))
    local headers = {}
    while line ~= "" do
        line = socket:receive()
        if not line then return nil end
        local name, value = line:match("^([^:]+):%s*(.*)$")
        if name then headers[name] = headers[name] and headers[name] .. ", " .. value or value end
    end
    local length = tonumber(headers["content-length"])
    -- LuaSocket would wait for a body without bytes.
    local body = length == 0 and "" or length and socket:receive(length)
    return status and body and { status = status, headers = headers, body = body }
end

local function connect()
    local socket = unix()
    socket:settimeout(TIME)
    return socket:connect(SOCKET) and socket
end

local function exchange(socket, text) return socket and socket:send(text) and receive(socket) end

-- The answer over the connection of this thread or, if the server has closed that one, over a new one.
local function ask(text)
    local answer = exchange(connection, text)
    if answer then return answer end
    connection = connect()
    answer = exchange(connection, text)
    -- An answer that comes too late must not be taken for that to another question.
    if not answer then connection = nil end
    return answer
end

function crawlpike(r)
    -- What Apache asks itself is part of a request that has passed.
    if not r.is_initial_req then return apache2.DECLINED end
    -- Every spelling of it that a server may take for the same.
    for name in pairs(r:headers_in_table()) do
        if name:lower():match("^x[^a-z0-9]crawlpike$") then r.headers_in[name] = nil end
    end
    -- And the client's wish to have it removed on the way.
    local options = r.headers_in["Connection"]
    if options and options:lower():find("crawlpike", 1, true) then r.headers_in["Connection"] = nil end
    local answer = ask(question(r))
    if not answer then return apache2.DECLINED end
    for name, value in pairs(answer.headers) do
        if not NOT_FOR_CLIENT[name] then r.err_headers_out[name] = value end
    end
    if answer.status == 200 then
        r.headers_in["X-Crawlpike"] = answer.headers["x-crawlpike"]
        return apache2.DECLINED
    end
    r.status = answer.status
    r.content_type = answer.headers["content-type"]
    r:write(answer.body)
    return apache2.DONE
end
