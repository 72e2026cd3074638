# The programs of the bench, for `. benches/programs.sh`: name, text, and for a number of elements
# the options that set it. Sizes are powers of two; every kernel's work is linear in them.

# Prints a line for each program: name, source, file, elements of a timed run.
bench_programs() {
    for name in reduce_neighbored reduce_neighbored_less reduce_interleaved; do
        echo "$name ptx programs/cuda/$name.ptx 4194304"
        echo "$name sass programs/sass/$name.sass 4194304"
    done
    echo "square_wave ptx programs/cuda/square_wave.ptx 524288"
    echo "square_wave sass programs/sass/square_wave.sass 524288"
    for name in matmul histo scan_hs; do
        case $name in matmul) n=262144 ;; histo) n=16777216 ;; *) n=4194304 ;; esac
        echo "$name ptx programs/unseen/mend/$name.ptx $n"
        echo "$name sass programs/unseen/mend/$name.sass $n"
    done
}

# Prints the options for N elements of a program: bench_size NAME N
bench_size() {
    case $1 in
        # Blocks beyond 256 repeat tiles of the one product of 256 x 256.
        matmul) echo "--grid $(($2 / 256))" ;;
        scan_hs) echo "--set n=$2 --grid $(($2 / 256))" ;;
        histo) echo "--set n=$2 --grid $(($2 / 1024))" ;;
        *) echo "--set n=$2" ;;
    esac
}

# Prints the modes in which a source runs: bench_modes ptx|sass
bench_modes() {
    case $1 in ptx) echo pre-volta volta ;; *) echo volta ;; esac
}
