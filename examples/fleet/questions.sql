.print '--- Logs by version and host'
SELECT app, version, host, count(*) AS logs, sum(damaged::INT) AS damaged FROM logs GROUP BY ALL ORDER BY ALL;
.print '--- Longest pauses'
SELECT app, version, host, logs, p50_ns / 1e6 AS p50_ms, p99_ns / 1e6 AS p99_ms, max_ns / 1e6 AS max_ms FROM pauses LIMIT 5;
.print '--- What became worse, and since when?'
SELECT since, number, unit, before, after, factor, z, version_before, version_after FROM regressions LIMIT 10;
.print '--- Allocation per request'
SELECT version, span, requests, bytes_per_request FROM allocation_per_request;
.print '--- Live heap from day to day'
SELECT version, day, count(*) AS logs, median(value) AS live_bytes FROM program_numbers WHERE number = 'heap.live.max' GROUP BY ALL ORDER BY ALL;
