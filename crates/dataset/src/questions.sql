-- Numbers of each log by name, such as gc.pause.p99. Those that grow with the work of the program also as a rate (per
-- second) or a share of the elapsed time, so that logs of different length can be compared.
CREATE VIEW program_numbers AS
WITH named AS (
  SELECT run, CASE WHEN part IS NULL THEN name ELSE concat(name, '.', part) END AS number, value, unit, better, is_total
  FROM measurements
  WHERE subject = 'program'
), wall AS (
  SELECT run, value AS wall_ns FROM named WHERE number = 'time.wall' AND value > 0
), all_numbers AS (
  SELECT run, number, value, unit, better FROM named
  UNION ALL
  SELECT named.run, concat(number, CASE WHEN unit = 'ns' THEN '.share' ELSE '.rate' END),
         CASE WHEN unit = 'ns' THEN value / wall_ns ELSE value / wall_ns * 1e9 END,
         CASE WHEN unit = 'ns' THEN 'share' ELSE 'per-second' END, better
  FROM named JOIN wall ON wall.run = named.run
  WHERE is_total AND number <> 'time.wall'
)
SELECT app, version, host, day, all_numbers.run, number, value, unit, better
FROM all_numbers JOIN logs ON logs.run = all_numbers.run;

-- How long are the pauses of collections, by version and host?
CREATE VIEW pauses AS
SELECT logs.app, logs.version, logs.host, count(DISTINCT logs.run) AS logs, count(*) AS pauses,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY pause_ns) AS p50_ns,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY pause_ns) AS p99_ns,
       max(pause_ns) AS max_ns
FROM collections JOIN logs ON logs.run = collections.run
WHERE pause_ns IS NOT NULL
GROUP BY logs.app, logs.version, logs.host
ORDER BY p99_ns DESC;

-- Since which day is which number worse? For each number of each program, the day at which the seven days from it on
-- differ the most from the seven before it, by the rank test: z is that of Mann and Whitney, of five or more logs on
-- each side. Before, each value is divided by the median of its host, so that hosts may differ.
CREATE VIEW regressions AS
WITH days AS (
  SELECT DISTINCT app, day FROM logs WHERE day IS NOT NULL
), host_medians AS (
  SELECT app, host, number, median(value) AS typical FROM program_numbers GROUP BY app, host, number
), adjusted AS (
  SELECT n.app, n.version, n.day, n.number, n.unit, n.better, n.value,
         CASE WHEN typical > 0 THEN value / typical ELSE value END AS relative
  FROM program_numbers n JOIN host_medians h
    ON h.app = n.app AND h.host IS NOT DISTINCT FROM n.host AND h.number = n.number
  WHERE n.better <> 'neutral'
), placed AS (
  SELECT days.app, days.day AS since, number, unit, better, value, relative, version, adjusted.day >= days.day AS is_after
  FROM days JOIN adjusted
    ON adjusted.app = days.app AND adjusted.day >= days.day - INTERVAL 7 DAY AND adjusted.day < days.day + INTERVAL 7 DAY
), ranked AS (
  SELECT *, rank() OVER (PARTITION BY app, since, number ORDER BY relative)
            + (count(*) OVER (PARTITION BY app, since, number, relative) - 1) / 2 AS value_rank
  FROM placed
), sides AS (
  SELECT app, since, number, unit, better,
         count(CASE WHEN NOT is_after THEN 1 END) AS logs_before, count(CASE WHEN is_after THEN 1 END) AS logs_after,
         sum(CASE WHEN is_after THEN value_rank END) AS ranks_after,
         median(CASE WHEN NOT is_after THEN value END) AS before, median(CASE WHEN is_after THEN value END) AS after,
         max(CASE WHEN NOT is_after THEN version END) AS version_before, max(CASE WHEN is_after THEN version END) AS version_after
  FROM ranked
  GROUP BY app, since, number, unit, better
), tested AS (
  SELECT *, (ranks_after - logs_after * (logs_before + logs_after + 1) / 2)
            / sqrt(logs_before * logs_after * (logs_before + logs_after + 1) / 12) AS z
  FROM sides
  WHERE logs_before >= 5 AND logs_after >= 5
), best AS (
  SELECT *, row_number() OVER (PARTITION BY app, number ORDER BY abs(z) DESC, since) AS position
  FROM tested
  WHERE CASE WHEN better = 'lower' THEN z ELSE -z END > 3.5
)
SELECT app, since, number, unit, before, after, CASE WHEN before <> 0 THEN after / before END AS factor,
       z, logs_before, logs_after, version_before, version_after
FROM best
WHERE position = 1 AND abs(after - before) > 0.05 * abs(before)
ORDER BY abs(z) DESC, app, number;

-- Which hosts differ from their peers, and in what? Of hosts with three or more logs of the same program and version, of
-- which there are five or more, those whose median is more than five robust standard deviations away from the median
-- of all (1.4826 times the median absolute deviation, but at least 2 % of the median).
CREATE VIEW odd_hosts AS
WITH hosts AS (
  SELECT app, version, host, number, unit, better, count(*) AS logs, median(value) AS value
  FROM program_numbers
  WHERE host IS NOT NULL
  GROUP BY app, version, host, number, unit, better
  HAVING count(*) >= 3
), peers AS (
  SELECT app, version, number, count(*) AS hosts, median(value) AS peers
  FROM hosts
  GROUP BY app, version, number
), deviations AS (
  SELECT hosts.*, peers.hosts, peers.peers, abs(value - peers.peers) AS deviation
  FROM hosts JOIN peers
    ON peers.app = hosts.app AND peers.version IS NOT DISTINCT FROM hosts.version AND peers.number = hosts.number
), spreads AS (
  SELECT app, version, number, greatest(1.4826 * median(deviation), 0.02 * abs(max(peers))) AS spread
  FROM deviations
  GROUP BY app, version, number
)
SELECT d.app, d.version, d.host, d.number, d.unit, d.value, d.peers, d.deviation / spread AS deviations, d.logs, d.hosts,
       CASE WHEN better = 'neutral' THEN 'other' WHEN (better = 'lower') = (value > d.peers) THEN 'worse' ELSE 'better' END AS verdict
FROM deviations d JOIN spreads s
  ON s.app = d.app AND s.version IS NOT DISTINCT FROM d.version AND s.number = d.number
WHERE d.hosts >= 5 AND spread > 0 AND deviation > 5 * spread
ORDER BY deviations DESC, app, version, host, number;

-- Which findings are frequent, and which cost the most? The log in which each is worst is named.
CREATE VIEW frequent_findings AS
WITH found AS (
  SELECT logs.app, logs.version, findings.run, rule, axis,
         coalesce(max(findings.share), 0) AS share, sum(claimed_ns) AS claimed_ns, max(title) AS title
  FROM findings JOIN logs ON logs.run = findings.run
  WHERE severity <> 'minor'
  GROUP BY logs.app, logs.version, findings.run, rule, axis
), counts AS (
  SELECT app, version, count(*) AS all_logs FROM logs GROUP BY app, version
)
SELECT found.app, found.version, rule, axis, count(*) AS logs, count(*) / max(all_logs) AS share_of_logs,
       sum(claimed_ns) / 1e9 AS claimed_s, median(found.share) AS median_share, max(found.share) AS max_share,
       max_by(found.run, (found.share, found.run)) AS worst_run, max_by(found.title, (found.share, found.run)) AS worst_title
FROM found JOIN counts ON counts.app IS NOT DISTINCT FROM found.app AND counts.version IS NOT DISTINCT FROM found.version
GROUP BY found.app, found.version, rule, axis
ORDER BY logs DESC, claimed_s DESC, app, version, rule;

-- How much does a program allocate for each of its spans? All that it allocated, divided by the number of spans of a
-- name. What is not done for these spans is counted too.
CREATE VIEW allocation_per_span AS
WITH spans_of_program AS (
  SELECT run, name AS span, value AS count FROM measurements WHERE subject = 'spans' AND part = 'count' AND value > 0
), allocated AS (
  SELECT run, value AS bytes FROM measurements WHERE subject = 'program' AND name = 'alloc.bytes'
)
SELECT app, version, host, day, logs.run, span, count, bytes, bytes / count AS bytes_per_span
FROM spans_of_program
JOIN allocated ON allocated.run = spans_of_program.run
JOIN logs ON logs.run = spans_of_program.run;

-- The same by version for spans that are named like requests. Of a log, the name with the most spans counts per version.
CREATE VIEW allocation_per_request AS
SELECT app, version, span, count(*) AS logs, sum(count) AS requests, sum(bytes) / sum(count) AS bytes_per_request,
       median(bytes_per_span) AS median_of_logs
FROM allocation_per_span
WHERE lower(span) LIKE '%request%' OR lower(span) LIKE '%handle%' OR lower(span) LIKE '%query%'
   OR lower(span) LIKE '%rpc%' OR lower(span) LIKE '%job%' OR lower(span) LIKE '%transaction%'
   OR lower(span) LIKE 'get %' OR lower(span) LIKE 'post %' OR lower(span) LIKE 'put %'
   OR lower(span) LIKE 'patch %' OR lower(span) LIKE 'delete %' OR span LIKE '/%'
GROUP BY app, version, span
ORDER BY app, span, version;

-- Growth of the live heap within each log: the slope of a line through the live bytes after collections. For each day
-- of running only if it was observed for a minute.
CREATE VIEW heap_slopes AS
SELECT run, count(*) AS collections, (max(start_ns) - min(start_ns)) / 1e9 AS seconds,
       max(live_bytes) AS max_live_bytes, regr_slope(live_bytes, start_ns) * 1e9 AS growth_bytes_per_second,
       CASE WHEN max(start_ns) - min(start_ns) >= 60e9 THEN regr_slope(live_bytes, start_ns) * 86400e9 END
         AS growth_bytes_per_day
FROM collections
WHERE live_bytes IS NOT NULL
GROUP BY run
HAVING count(*) >= 5;

-- How does the heap grow: from day to day, and within the logs of each day?
CREATE VIEW heap_growth AS
WITH days AS (
  SELECT app, version, host, day, count(*) AS logs, median(max_live_bytes) AS live_bytes,
         median(growth_bytes_per_day) AS growth_within_logs_bytes_per_day
  FROM heap_slopes JOIN logs ON logs.run = heap_slopes.run
  WHERE day IS NOT NULL
  GROUP BY app, version, host, day
)
SELECT *, live_bytes - lag(live_bytes) OVER (PARTITION BY app, version, host ORDER BY day) AS change_since_last_day_bytes
FROM days
ORDER BY app, version, host, day;

-- The ten worst logs for each question.
CREATE VIEW worst_logs AS
WITH answers AS (
  SELECT 'longest pause' AS question, run, value, unit FROM program_numbers WHERE number = 'gc.pause.max'
  UNION ALL
  SELECT '99th percentile of pauses', run, value, unit FROM program_numbers WHERE number = 'gc.pause.p99'
  UNION ALL
  SELECT 'share of time in collections', run, value, unit FROM program_numbers WHERE number = 'gc.time.share'
  UNION ALL
  SELECT 'allocation rate', run, value, unit FROM program_numbers WHERE number = 'alloc.bytes.rate'
  UNION ALL
  SELECT 'greatest live heap', run, value, unit FROM program_numbers WHERE number = 'heap.live.max'
  UNION ALL
  SELECT 'growth of the heap per day', run, growth_bytes_per_day, 'bytes' FROM heap_slopes WHERE growth_bytes_per_day > 0
  UNION ALL
  SELECT 'allocation per request', run, max(bytes_per_span), 'bytes'
  FROM allocation_per_span
  WHERE lower(span) LIKE '%request%' OR lower(span) LIKE '%handle%' OR span LIKE '/%'
  GROUP BY run
  UNION ALL
  SELECT 'time that findings explain', run, sum(claimed_ns), 'ns' FROM findings WHERE claimed_ns IS NOT NULL GROUP BY run
  UNION ALL
  SELECT 'idle while threads were ready', run, value, unit FROM program_numbers WHERE number = 'cap.lost'
  UNION ALL
  SELECT 'differences from its host''s peers', r.run, CAST(count(*) AS DOUBLE), 'count'
  FROM odd_hosts h JOIN logs r
    ON r.app = h.app AND r.version IS NOT DISTINCT FROM h.version AND r.host = h.host
  WHERE verdict = 'worse'
  GROUP BY r.run
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY question ORDER BY value DESC, run) AS position
  FROM answers
  WHERE value > 0
)
SELECT question, position, value, unit, logs.run, app, version, host, day, path
FROM ranked JOIN logs ON logs.run = ranked.run
WHERE position <= 10
ORDER BY question, position;
