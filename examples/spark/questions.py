"""Asks a data set of logs in Spark: `python3 questions.py DATASET [VIEW…]`.

`DATASET/views-spark.sql` defines a view for each table and for each question of docs/fleet.md. Without names, all
questions are asked. The answers are tab-separated, with a line of column names, so that they can be compared with
those of another engine.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def statements(script):
    """Splits a script at the semicolons that end a line; comments begin with two dashes."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    for statement in "\n".join(lines).split(";\n"):
        if statement.strip().rstrip(";"):
            yield statement.strip().rstrip(";")


def define_views(spark, dataset):
    """Defines the views of a data set; returns the names of its questions."""
    script = (Path(dataset) / "views-spark.sql").read_text(encoding="utf-8")
    for statement in statements(script):
        spark.sql(statement)
    tables = {table.name for table in Path(dataset).iterdir() if table.is_dir()}
    views = [view.name for view in spark.catalog.listTables()]
    return sorted(view for view in views if view not in tables)


def cell(value):
    """Formats a value: numbers with all digits that matter, null as an empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)


def main():
    dataset, *wanted = sys.argv[1:] or sys.exit(__doc__)
    spark = SparkSession.builder.appName("eventscope questions").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    questions = define_views(spark, dataset)
    for view in wanted or questions:
        answer = spark.table(view)
        print(f"# {view}")
        print("\t".join(answer.columns))
        for row in answer.collect():
            print("\t".join(cell(value) for value in row))
    spark.stop()


if __name__ == "__main__":
    main()
