-- Asks `crawlpike serve` about a request. If it does not answer, the request passes.
local SERVER = "http://127.0.0.1:9191/haproxy"
local TIME = 1000 -- milliseconds
-- The status that HAProxy itself answers with if it cannot reach the server.
local UNREACHABLE = 503

-- The headers of the request, as the client for HTTP takes them, with those of the dialect.
local function question(txn)
    local headers = {}
    for name, lines in pairs(txn.http:req_get_headers()) do
        headers[name] = {}
        for place, line in pairs(lines) do headers[name][place + 1] = line end
    end
    for _, name in ipairs({ "connection", "content-length", "transfer-encoding", "upgrade", "host" }) do
        headers[name] = nil
    end
    headers["x-forwarded-for"] = { txn.f:src() }
    headers["x-forwarded-host"] = { txn.f:req_hdr("host") or "" }
    headers["x-forwarded-method"] = { txn.f:method() }
    headers["x-forwarded-proto"] = { txn.f:ssl_fc() == 1 and "https" or "http" }
    headers["x-forwarded-uri"] = { txn.f:pathq() or txn.f:url() }
    return headers
end

-- The lines of the answer's headers, as a reply takes them.
local function lines(headers)
    local all = {}
    for name, values in pairs(headers) do
        all[name] = {}
        for _, value in pairs(values) do table.insert(all[name], value) end
    end
    all["content-length"], all["connection"] = nil, nil
    return all
end

core.register_action("crawlpike", { "http-req" }, function(txn)
    local answer = core.httpclient():get({ url = SERVER, headers = question(txn), timeout = TIME })
    local status = answer and answer.status or 0
    if status == 200 then
        local ours = answer.headers["x-crawlpike"]
        if ours then txn.http:req_set_header("X-Crawlpike", ours[0] or ours[1]) end
    elseif status >= 400 and status ~= UNREACHABLE then
        txn:done(txn:reply({ status = status, headers = lines(answer.headers), body = answer.body }))
    end
end)
