#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Counts the logs in LIST, a file of HDFS, with Hadoop Streaming:
#
#	hadoop.sh LIST OUTPUT [OPTION of telstat ...]
#
# Prints the report.  telstat and the logs must have the same absolute names on
# all machines.  Options must not contain blanks, as Hadoop splits the command
# there.  Written from Hadoop's documentation; not run by the tests.

set -eu
list=$1
output=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
streaming=$(find "${HADOOP_HOME:?}/share/hadoop/tools/lib" \
    -name 'hadoop-streaming-*.jar' | head -n 1)

# No reducer: between map and reduce, Hadoop would sort the lines of a part.
hadoop jar "$streaming" \
    -D mapreduce.job.reduces=0 \
    -D mapreduce.input.lineinputformat.linespermap=16 \
    -D stream.map.input.ignoreKey=true \
    -files "$here/pipe.sh" \
    -inputformat org.apache.hadoop.mapred.lib.NLineInputFormat \
    -input "$list" -output "$output" -mapper "pipe.sh $*"

# Each line is a key without a value, after which Hadoop writes a tab.
hdfs dfs -cat "$output/part-*" | sed 's/	$//' | telstat --as inst
