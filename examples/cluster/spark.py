#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts the logs in LIST with Spark:

    spark-submit spark.py LIST OUTPUT [OPTION of telstat ...]
    cat OUTPUT/part-* | telstat --as inst

(or "hdfs dfs -cat 'OUTPUT/part-*'").  This folder, telstat and the logs must
have the same absolute names on all machines.  Written from Spark's
documentation; not run by the tests.
"""
import os
import shlex
import sys

from pyspark import SparkContext


def main(listing, output, *options):
    with open(listing) as lines:
        logs = lines.read().splitlines()
    pipe = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pipe.sh")
    sc = SparkContext(appName="telstat")
    # A partition for each 16 logs: its lines stay together and in order.
    # Without checkCode, Spark ignores the exit status of a killed telstat.
    sc.parallelize(logs, max(1, len(logs) // 16)).pipe(
        shlex.join([pipe, *options]), checkCode=True).saveAsTextFile(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
