"""Prints Nsight Compute's raw report as rows of kernel and metric: tidy.py REPORT SET"""

import csv
import sys

report, folder = sys.argv[1:]
with open("metrics.txt", encoding="utf-8") as lines:
    metrics = lines.read().split()
with open(report, encoding="utf-8") as lines:
    header, units, *launches = list(csv.reader(line for line in lines if line.startswith('"')))


def block(kernel):
    """Returns the threads per block from the kernel's directives."""
    with open(f"{folder}/{kernel}.cu", encoding="utf-8") as source:
        return next(line.split("=")[1].strip() for line in source if line.startswith("//! block"))


print("kernel,log2_n,block,metric,unit,value")
for launch in launches:
    kernel = launch[header.index("Kernel Name")].split("(")[0]
    for metric in sorted(metrics):
        at = header.index(metric)
        print(kernel, 16, block(kernel), metric, units[at], launch[at].replace(",", ""), sep=",")
