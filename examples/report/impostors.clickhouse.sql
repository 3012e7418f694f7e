-- The networks of impostors: make the events with --anonymize, so that the client is a network.
SELECT client AS network, agent, count() AS requests
FROM file('events.jsonl', JSONEachRow, 'client Nullable(String), agent Nullable(String), identity String')
WHERE identity = 'spoofed'
GROUP BY client, agent
ORDER BY requests DESC, network, agent
