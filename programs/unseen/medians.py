"""Replaces times in SET/profile.csv by medians: medians.py SET REPORT

REPORT is what Nsight Compute printed for further launches of the kernels (`--csv --page raw`), one report after
the other. The launch in profile.csv is one of those that the median is taken of. Run it once a recording.
"""

import collections
import csv
import statistics
import sys

EXECUTED = "smsp__inst_executed.sum"
DURATION, CYCLES, IPC = "gpu__time_duration.sum", "sm__cycles_active.sum", "sm__inst_executed.avg.per_cycle_active"

folder, report = sys.argv[1:]
seen = collections.defaultdict(list)
header = []
with open(report, encoding="utf-8") as lines:
    for row in csv.reader(line for line in lines if line.startswith('"')):
        if row[0] == "ID":
            header = row
        elif row[0]:
            kernel = row[header.index("Kernel Name")].split("(")[0]
            for metric, value in zip(header, row):
                if metric.startswith(("gpu__", "sm__", "smsp__")) and metric != EXECUTED:
                    seen[kernel, metric].append(float(value.replace(",", "")))

with open(f"{folder}/profile.csv", encoding="utf-8") as lines:
    header, *rows = list(csv.reader(lines))
before = {(row[0], row[3]): float(row[5]) for row in rows}
after = {at: statistics.median([value, *seen[at]]) for at, value in before.items() if at in seen}
for kernel, metric in before:
    if metric == IPC:
        after[kernel, metric] = round(before[kernel, EXECUTED] / after[kernel, CYCLES], 2)
    elif metric.endswith(".per_second"):
        change = before[kernel, DURATION] / after[kernel, DURATION]
        after[kernel, metric] = round(before[kernel, metric] * change)
with open(f"{folder}/profile.csv", "w", encoding="utf-8") as out:
    print(",".join(header), file=out)
    for row in rows:
        value = after.get((row[0], row[3]))
        if value is not None and value != float(row[5]):
            row[5] = f"{value:.4f}".rstrip("0").rstrip(".")
        print(",".join(row), file=out)
