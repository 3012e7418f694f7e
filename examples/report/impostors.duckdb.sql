-- The networks of impostors: make the events with --anonymize, so that the client is a network.
SELECT client AS network, agent, count(*) AS requests
FROM read_json('events.jsonl', format = 'newline_delimited',
               columns = {client: 'VARCHAR', agent: 'VARCHAR', identity: 'VARCHAR'})
WHERE identity = 'spoofed'
GROUP BY ALL
ORDER BY requests DESC, network, agent;
