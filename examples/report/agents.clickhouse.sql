-- What would be done with each agent. People are left out.
SELECT coalesce(agent, unknown_agent) AS name,
       identity,
       count() AS requests,
       sum(bytes) AS bytes_sent,
       countIf(action = 'deny') AS denied
FROM file('events.jsonl', JSONEachRow,
          'agent Nullable(String), unknown_agent Nullable(String), identity String, bytes UInt64, action String')
WHERE identity NOT IN ('none', 'undeclared')
GROUP BY name, identity
ORDER BY requests DESC, name, identity
