#!/usr/bin/env bash
# Prints a table of million machine instructions a second, and host instructions for each:
#     benches/table.sh [--csv FILE] [--baseline FILE] [--markdown] [--shift N] [--no-host] [PROGRAM]
# PROGRAM is target/release/simt-sim if none is named.
#
# Rows: the three reductions, the square wave, matmul, histogram and scan, from PTX and from machine
# code, in each mode, with and without timing, with one and two host threads.
#   rate       million machine instructions (`inst_issued`) a second of the whole process: processor
#              time with --jobs 1, wall time with --jobs 2
#   host       host instructions for one machine instruction by callgrind, --jobs 1, the difference
#              of two small sizes, so that start-up does not count; `-` with --no-host or without
#              valgrind
#   --csv      writes the rows as CSV, too; --baseline reads such a file and adds the ratios
#              rate / its rate and host / its host
#   --markdown prints the table of docs/performance.md: a line for each kernel and mode
#   --shift N  divides the sizes of the timed runs by 2^N
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/programs.sh
csv='' baseline='' markdown=no shift=0 host=yes sim=target/release/simt-sim
while [ $# -gt 0 ]; do
    case $1 in
        --csv) csv=$2; shift ;;
        --baseline) baseline=$2; shift ;;
        --shift) shift=$2; shift ;;
        --markdown) markdown=yes ;;
        --no-host) host=no ;;
        -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
        *) sim=$1 ;;
    esac
    shift
done
if [ $host = yes ] && ! command -v valgrind > /dev/null; then
    echo "note: valgrind is not installed; no host instructions" >&2
    host=no
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rows=$folder/rows.csv
echo "program,source,mode,timing,jobs,instructions,seconds,rate,host" > "$rows"

# Metrics that are counts, and so exist without timing.
metric=inst_issued
timings=cycles
if "$sim" run --help | grep -q -- '--timing'; then timings='cycles off'; fi

# Machine instructions of a run.
instructions() { "$sim" run "$@" --metrics $metric | awk '{ print $2; exit }'; }
# Host instructions of a run.
callgrind() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$sim" run --quiet "$@" 2>&1 |
        awk '/Collected/ { print $4; exit }'
}
# Seconds of a run: processor time with one host thread, else wall time.
seconds() { # JOBS ARGUMENTS
    local jobs=$1
    shift
    local TIMEFORMAT='%R %U %S'
    { time "$sim" run --quiet --jobs "$jobs" "$@" > "$folder/out" 2>&1; } 2> "$folder/time"
    awk -v jobs="$jobs" '{ print jobs == 1 ? $2 + $3 : $1 }' "$folder/time"
}

while read -r name source file n; do
    n=$((n >> shift))
    # Small enough for valgrind; the square wave issues 45 instructions an element.
    case $name in square_wave) small=4096 ;; matmul) small=8192 ;; *) small=16384 ;; esac
    for mode in $(bench_modes "$source"); do
        for timing in $timings; do
            options="$file --mode $mode"
            [ "$timings" = cycles ] || options="$options --timing $timing"
            if [ $host = yes ]; then
                one="$options $(bench_size "$name" "$small") --jobs 1"
                two="$options $(bench_size "$name" $((2 * small))) --jobs 1"
                cost=$(awk -v a="$(callgrind $one)" -v b="$(callgrind $two)" \
                    -v i="$(instructions $one)" -v j="$(instructions $two)" \
                    'BEGIN { printf "%.0f", (b - a) / (j - i) }')
            else
                cost=-
            fi
            options="$options $(bench_size "$name" "$n")"
            count=$(instructions $options)
            for jobs in 1 2; do
                time=$(seconds $jobs $options)
                rate=$(awk -v c="$count" -v t="$time" \
                    'BEGIN { printf "%.2f", (t > 0 ? c / t / 1e6 : 0) }')
                echo "$name,$source,$mode,$timing,$jobs,$count,$time,$rate,$cost" >> "$rows"
            done
        done
    done
done < <(bench_programs)

if [ -n "$csv" ]; then cp "$rows" "$csv"; fi
if [ $markdown = yes ]; then
    awk -F, '
    function cells(timing) {
        if (!((key, timing, 1) in rate)) return " - | - | - |"
        return " " rate[key, timing, 1] " | " rate[key, timing, 2] " | " host[key, timing] " |"
    }
    BEGIN {
        printf "| kernel | from | mode | million instructions |"
        print " cycles: M/s | `--jobs 2` | host | off: M/s | `--jobs 2` | host |"
        print "|---|---|---|--:|--:|--:|--:|--:|--:|--:|"
    }
    NR > 1 {
        key = $1 SUBSEP $2 SUBSEP $3
        if (!(key in count)) order[++keys] = key
        count[key] = $6
        rate[key, $4, $5] = $8
        host[key, $4] = $9
    }
    END {
        for (i = 1; i <= keys; i++) {
            key = order[i]
            split(key, part, SUBSEP)
            printf "| %s | %s | %s | %.1f |%s%s\n", part[1], part[2], part[3], count[key] / 1e6,
                cells("cycles"), cells("off")
        }
    }' "$rows"
    exit
fi
awk -F, -v baseline="$baseline" '
function ratio(now, then) { return then + 0 > 0 && now + 0 > 0 ? sprintf("%.2f", now / then) : "-" }
BEGIN {
    while (baseline != "" && (getline line < baseline) > 0) {
        split(line, f, ",")
        rate[f[1], f[2], f[3], f[4], f[5]] = f[8]
        host[f[1], f[2], f[3], f[4], f[5]] = f[9]
    }
    form = "%-23s %-6s %-9s %-6s %4s %12s %8s %8s %6s"
}
{
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5
    line = sprintf(form, $1, $2, $3, $4, $5, $6, $7, $8, $9)
    if (baseline != "")
        line = line (NR == 1 ? "  rate x  host x" : \
            sprintf(" %7s %7s", ratio($8, rate[key]), ratio($9, host[key])))
    print line
}' "$rows"
