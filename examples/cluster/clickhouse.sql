-- SPDX-License-Identifier: BSD-2-Clause
--
-- Counts the logs that a table names with ClickHouse:
--
--	clickhouse-client --queries-file clickhouse.sql >parts
--	telstat --as inst parts
--
-- pipe.sh is in the server's folder user_scripts; telstat is on its PATH.  The
-- options of telstat are separated by blanks, and contain none.  The server may
-- ignore the exit status of the script: compare the number of logs in the
-- report with that of the table.  Written from ClickHouse's documentation; not
-- run by the tests.

SELECT line
FROM executable('pipe.sh -s size=quantiles(size)', 'TabSeparatedRaw',
    'line String', (SELECT path FROM logs ORDER BY path),
    SETTINGS command_read_timeout = 3600000, max_command_execution_time = 86400)
FORMAT TabSeparatedRaw
SETTINGS max_threads = 1;
