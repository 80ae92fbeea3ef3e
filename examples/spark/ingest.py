"""Adds logs to a data set on the executors of a Spark cluster:

    spark-submit ingest.py DATASET LOGS… [--eventscope PROGRAM] [--by-content] [-- OPTION…]

LOGS are files, or patterns such as '/logs/*/*.eventlog'. Each task runs `eventscope export --dataset` on some of
them. Executors must see DATASET under the same path; without --by-content, the logs too. With --by-content, Spark
reads the logs, from any storage that it knows (s3a://…, hdfs://…), and a task writes each to a temporary file: for
logs that are smaller than the memory of an executor. What follows `--` goes to `eventscope export`, such as
`--partition app,host,day`.

A task that fails or loses its executor is run again by Spark: logs that are in the data set already are passed over,
and half-written ones are written again. A file that is no log is recorded in the manifest, and no task fails for it.
"""

import argparse
import glob
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession


def export(eventscope, dataset, options, logs):
    """Adds some logs to the data set; returns what the program says."""
    command = [eventscope, "export", "--dataset", dataset, *options, *logs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr}")
    return done.stderr.strip().splitlines()[-1:]


def by_path(eventscope, dataset, options):
    """Returns the work of a task that gets the paths of logs."""

    def work(paths):
        paths = list(paths)
        return export(eventscope, dataset, options, paths) if paths else []

    return work


def by_content(eventscope, dataset, options):
    """Returns the work of a task that gets the addresses of logs with their bytes."""

    def work(files):
        for address, content in files:
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / Path(address).name
                log.write_bytes(content)
                yield from export(eventscope, dataset, options, [str(log)])

    return work


def main():
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--eventscope", default="eventscope", help="the program, on every executor")
    parser.add_argument("--logs-per-task", type=int, default=16, metavar="N")
    parser.add_argument("--by-content", action="store_true", help="let Spark read the logs")
    asked = parser.parse_args(arguments[:split])
    options = arguments[split + 1 :]

    spark = SparkSession.builder.appName("eventscope ingest").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    context = spark.sparkContext
    context.setLogLevel("ERROR")
    how = (asked.eventscope, asked.dataset, options)
    if asked.by_content:
        logs = context.binaryFiles(",".join(asked.logs))
        said = logs.mapPartitions(by_content(*how)).collect()
    else:
        paths = sorted({path for pattern in asked.logs for path in glob.glob(pattern) or [pattern]})
        tasks = max(1, -(-len(paths) // asked.logs_per_task))
        said = context.parallelize(paths, tasks).mapPartitions(by_path(*how)).collect()
    print("\n".join(said))
    spark.stop()


if __name__ == "__main__":
    main()
