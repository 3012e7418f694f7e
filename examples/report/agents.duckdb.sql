-- What would be done with each agent. People are left out.
SELECT coalesce(agent, unknown_agent) AS name,
       identity,
       count(*) AS requests,
       sum(bytes)::BIGINT AS bytes_sent,
       count(*) FILTER (WHERE action = 'deny') AS denied
FROM read_json('events.jsonl', format = 'newline_delimited',
               columns = {agent: 'VARCHAR', unknown_agent: 'VARCHAR', identity: 'VARCHAR', bytes: 'BIGINT', action: 'VARCHAR'})
WHERE identity NOT IN ('none', 'undeclared')
GROUP BY ALL
ORDER BY requests DESC, name, identity;
