//! The alternatives to Crawlpike for an operator of Envoy.

use std::fmt::Write as _;

use ipnet::{IpNet, Ipv4Net};
use serde_json::{Value, json};

use crate::world::{GOOGLEBOT_FEED, World};

/// A script that checks one agent, and denies who says that he is Googlebot from another address: all of Googlebot's
/// IPv4 ranges, aggregated, and the one block that its IPv6 ranges are from.
pub(crate) fn lua(world: &World) -> Value {
    let v4: Vec<Ipv4Net> = world
        .prefixes_of(GOOGLEBOT_FEED)
        .iter()
        .filter_map(|prefix| match prefix {
            IpNet::V4(prefix) => Some(*prefix),
            IpNet::V6(_) => None,
        })
        .collect();
    let mut script = String::from("local ranges = {\n");
    for range in Ipv4Net::aggregate(&v4) {
        let _ = writeln!(script, "{{{}, {}}},", range.network().to_bits(), range.broadcast().to_bits());
    }
    script.push_str(
        r#"}
local v6 = "2001:4860:4801:"
local function is_googles(address)
    local a, b, c, d = address:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)")
    if not a then
        return address:find(v6, 1, true) ~= nil
    end
    local number = ((tonumber(a) * 256 + tonumber(b)) * 256 + tonumber(c)) * 256 + tonumber(d)
    for _, range in ipairs(ranges) do
        if number >= range[1] and number <= range[2] then
            return true
        end
    end
    return false
end
function envoy_on_request(handle)
    local agent = handle:headers():get("user-agent")
    if agent and agent:lower():find("googlebot", 1, true)
        and not is_googles(handle:streamInfo():downstreamRemoteAddress()) then
        handle:respond({ [":status"] = "403" }, "spoofed\n")
    end
end
"#,
    );
    json!({
        "name": "lua",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
            "default_source_code": { "inline_string": script },
        },
    })
}

/// A policy that denies who says that he is Googlebot from none of the feeds' prefixes.
pub(crate) fn rbac(world: &World) -> Value {
    let prefixes = world.feeds().iter().flat_map(|feed| &feed.prefixes);
    let addresses: Vec<Value> = prefixes
        .map(|prefix| {
            json!({ "remote_ip": { "address_prefix": prefix.network(), "prefix_len": prefix.prefix_len() } })
        })
        .collect();
    let claims = json!({ "header": {
        "name": "user-agent",
        "string_match": { "contains": "Googlebot", "ignore_case": true },
    } });
    json!({
        "name": "rbac",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
            "rules": {
                "action": "DENY",
                "policies": { "spoofed": {
                    "permissions": [{ "any": true }],
                    "principals": [{ "and_ids": { "ids": [
                        claims,
                        { "not_id": { "or_ids": { "ids": addresses } } },
                    ] } }],
                } },
            },
        },
    })
}
