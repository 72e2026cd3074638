//! Metrics of global, shared and local memory, L2 and DRAM.
//!
//! A *request* is one warp-level access. A *transaction* of global or local memory is a 32-byte
//! sector, which nvprof counts from Maxwell on and Nsight Compute always; a shared-memory
//! transaction is a wavefront, one pass over the banks. The `*_segments` metrics count the larger
//! transfers of older machines.

use super::{Group, Inputs, Metric, Value, count, per, percent, rate};
use simt_core::observe::{AccessWay, TrafficTotals};

const LOAD: AccessWay = AccessWay::Load;
const STORE: AccessWay = AccessWay::Store;
const ATOMIC: AccessWay = AccessWay::Atomic;

/// Bytes per sector.
const SECTOR: u64 = 32;

fn efficiency(t: &TrafficTotals) -> Option<Value> {
    percent(t.requested_bytes, t.sectors * SECTOR)
}

/// Load sectors looked up in L2.
fn l2_reads(i: &Inputs<'_>) -> u64 {
    let images = i.texture().l2_sectors() + i.surface(LOAD).l2_sectors();
    i.global(LOAD).l2_sectors() + i.local(LOAD).l2_sectors() + images
}

/// Store sectors looked up in L2.
fn l2_writes(i: &Inputs<'_>) -> u64 {
    let written = |stores: &TrafficTotals| stores.sectors - stores.combined;
    written(i.global(STORE)) + written(i.local(STORE))
}

/// Sectors of one kind of access that crossed to the other partition of L2.
fn crossed(i: &Inputs<'_>, way: AccessWay) -> u64 {
    i.global(way).l2_crossed + i.local(way).l2_crossed
}

/// Bytes that loads and atomics read from DRAM.
fn dram_reads(i: &Inputs<'_>) -> u64 {
    let read = [
        i.global(LOAD),
        i.global(ATOMIC),
        i.local(LOAD),
        i.texture(),
        i.surface(LOAD),
        i.surface(ATOMIC),
    ];
    read.iter().map(|t| t.dram_sectors).sum::<u64>() * SECTOR
}

/// Bytes that L2 wrote back to DRAM, on behalf of any access.
fn dram_writes(i: &Inputs<'_>) -> u64 {
    let sectors = [LOAD, STORE, ATOMIC]
        .iter()
        .map(|&way| i.global(way).written_back + i.local(way).written_back)
        .chain([i.texture().written_back])
        .chain([LOAD, STORE, ATOMIC].map(|way| i.surface(way).written_back));
    sectors.sum::<u64>() * SECTOR
}

/// Maximum bytes per shared-memory wavefront: one 4-byte word per bank.
fn wavefront_bytes(i: &Inputs<'_>) -> u64 {
    4 * u64::from(i.machine.shared_banks)
}

macro_rules! metric {
    ($group:ident, $unit:literal, $name:literal, $ncu:expr, [$($alias:literal),*], $formula:literal, $meaning:literal, $value:expr) => {
        Metric {
            name: $name,
            ncu: $ncu,
            aliases: &[$($alias),*],
            unit: $unit,
            group: Group::$group,
            formula: $formula,
            meaning: $meaning,
            ours: false,
            value: $value,
        }
    };
    (ours $group:ident, $unit:literal, $name:literal, $ncu:expr, [$($alias:literal),*], $formula:literal, $meaning:literal, $value:expr) => {
        Metric { ours: true, ..metric!($group, $unit, $name, $ncu, [$($alias),*], $formula, $meaning, $value) }
    };
}

#[rustfmt::skip] // per metric: group, unit, name, Nsight's name, aliases; formula; meaning; value
pub(super) const TABLE: &[Metric] = &[
    metric!(Global, "request", "gld_requests", Some("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        ["gld_request", "global_load_requests", "inst_executed_global_loads"],
        "global loads executed by warps", "Warp-level global loads.",
        |i| count(i.of_lsu(LOAD).requests)),
    metric!(Global, "sector", "gld_transactions", Some("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), [],
        "distinct 32-byte sectors of each global load, summed", "Sectors that global loads looked up in L1.",
        |i| count(i.of_lsu(LOAD).sectors)),
    metric!(Global, "sector/request", "gld_transactions_per_request",
        Some("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), [],
        "gld_transactions / gld_requests", "Average sectors per global load; 4 if 32 lanes read 32 \
         neighbouring words.",
        |i| per(i.of_lsu(LOAD).sectors, i.of_lsu(LOAD).requests)),
    metric!(Global, "%", "gld_efficiency", Some("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"), [],
        "100 x requested bytes / (gld_transactions x 32)",
        "Share of the loaded bytes that lanes requested; above 100 if lanes read the same word.",
        |i| efficiency(&i.of_lsu(LOAD))),
    metric!(Global, "GB/s", "gld_throughput", Some("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second"), [],
        "gld_transactions x 32 / duration", "Bytes moved for global loads per second, including \
         bytes that no lane requested.",
        |i| rate(i.of_lsu(LOAD).sectors * SECTOR, i)),
    metric!(Global, "GB/s", "gld_requested_throughput", Some("smsp__sass_data_bytes_mem_global_op_ld.sum.per_second"), [],
        "requested bytes / duration", "Bytes that lanes requested with global loads, per second.",
        |i| rate(i.of_lsu(LOAD).requested_bytes, i)),
    metric!(ours Global, "segment", "gld_segments", None, [],
        "transactions of global loads, in the unit of the machine's generation",
        "Transfers of global loads: 128-byte lines if L1 fills whole lines, else sectors.",
        |i| count(i.of_lsu(LOAD).transactions)),
    metric!(Global, "request", "gst_requests", Some("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
        ["gst_request", "global_store_requests", "inst_executed_global_stores"],
        "global stores executed by warps", "Warp-level global stores.",
        |i| count(i.of_lsu(STORE).requests)),
    metric!(Global, "sector", "gst_transactions", Some("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), [],
        "distinct 32-byte sectors of each global store, summed", "Sectors that global stores wrote to.",
        |i| count(i.of_lsu(STORE).sectors)),
    metric!(Global, "sector/request", "gst_transactions_per_request",
        Some("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"), [],
        "gst_transactions / gst_requests", "Average sectors per global store.",
        |i| per(i.of_lsu(STORE).sectors, i.of_lsu(STORE).requests)),
    metric!(Global, "%", "gst_efficiency", Some("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"), [],
        "100 x stored bytes / (gst_transactions x 32)", "Share of the stored sectors that lanes wrote.",
        |i| efficiency(&i.of_lsu(STORE))),
    metric!(Global, "GB/s", "gst_throughput", Some("l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum.per_second"), [],
        "gst_transactions x 32 / duration", "Bytes moved for global stores per second.",
        |i| rate(i.of_lsu(STORE).sectors * SECTOR, i)),
    metric!(Global, "GB/s", "gst_requested_throughput", Some("smsp__sass_data_bytes_mem_global_op_st.sum.per_second"), [],
        "stored bytes / duration", "Bytes that lanes wrote with global stores per second.",
        |i| rate(i.of_lsu(STORE).requested_bytes, i)),
    metric!(ours Global, "segment", "gst_segments", None, [],
        "transactions of global stores, in the unit of the machine's generation",
        "Transfers of global stores: segments on machines that store in segments, else sectors.",
        |i| count(i.of_lsu(STORE).transactions)),
    metric!(Global, "request", "global_atomic_requests", None, [],
        "global atomics and reductions executed by warps",
        "Warp-level global atomics; Nsight counts those with an unused result separately, as \
         op_red.",
        |i| count(i.of_lsu(ATOMIC).requests)),
    metric!(Global, "transaction", "atomic_transactions", Some("l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum"), [],
        "transactions of global atomics and reductions", "Transactions that global atomics were split into.",
        |i| count(i.of_lsu(ATOMIC).transactions)),
    metric!(Global, "transaction/request", "atomic_transactions_per_request", None, [],
        "atomic_transactions / global_atomic_requests", "Average transactions per global atomic.",
        |i| per(i.of_lsu(ATOMIC).transactions, i.of_lsu(ATOMIC).requests)),

    metric!(ours Global, "byte", "bulk_read_bytes", Some("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"), [],
        "sectors that bulk copies read x 32", "Bytes that bulk copies read from global memory.",
        |i| count(i.totals.bulk_copies[LOAD as usize].sectors * SECTOR)),
    metric!(ours Global, "byte", "bulk_write_bytes", Some("l1tex__m_l1tex2xbar_write_bytes_pipe_tma.sum"), [],
        "sectors that bulk copies write or reduce x 32",
        "Bytes that bulk copies write to global memory or add to it.",
        |i| count((i.totals.bulk_copies[STORE as usize].sectors
            + i.totals.bulk_copies[ATOMIC as usize].sectors) * SECTOR)),

    metric!(ours Global, "sector", "l1_hit_sectors", Some("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"), [],
        "sectors of global loads that hit in L1", "Load sectors that hit in L1.",
        |i| count(i.global(LOAD).l1_hits)),
    metric!(Global, "%", "global_hit_rate", None, [],
        "100 x l1_hit_sectors / gld_transactions", "Share of the load sectors that hit in L1.",
        |i| percent(i.of_lsu(LOAD).l1_hits, i.of_lsu(LOAD).sectors)),

    metric!(Device, "sector", "l2_read_transactions", Some("lts__t_sectors_op_read.sum"), ["l2_read_sectors"],
        "global and local load sectors that missed in L1 (whole lines if the machine fills lines); \
         sectors that crossed to the other L2 partition count twice",
        "Sectors that loads looked up in L2.",
        |i| count(l2_reads(i) + crossed(i, LOAD))),
    metric!(Device, "byte", "l2_global_load_bytes", Some("lts__t_bytes_equiv_l1sectormiss_pipe_lsu_mem_global_op_ld.sum"), [],
        "global load sectors that missed in L1 x 32", "Bytes that global loads requested from L2.",
        |i| count(i.global(LOAD).l2_sectors() * SECTOR)),
    metric!(Device, "sector", "l2_write_transactions", Some("lts__t_sectors_op_write.sum"), ["l2_write_sectors"],
        "global and local store sectors, which are written through to L2, but those that joined \
         sectors of earlier stores in the SM (machine code); sectors that crossed to the other \
         partition count twice",
        "Sectors that stores wrote to L2.",
        |i| count(l2_writes(i) + crossed(i, STORE))),
    metric!(ours Device, "sector", "l2_crossed_sectors", None, [],
        "sectors whose home is the L2 partition that the SM is not attached to, without a copy in \
         its own partition",
        "Sectors that L2 looked up in both partitions.",
        |i| count([LOAD, STORE, ATOMIC].iter().map(|&way| crossed(i, way)).sum())),
    metric!(Device, "sector", "l2_atomic_transactions", Some("lts__t_sectors_op_atom.sum"), [],
        "sectors of global atomics", "Sectors that atomics touched in L2.",
        |i| count(i.global(ATOMIC).sectors)),
    metric!(Device, "%", "l2_tex_read_hit_rate", Some("lts__t_sector_op_read_hit_rate.pct"), [],
        "100 x load sectors that hit in L2 / load sectors looked up in L2", "Share of the reads that hit in L2.",
        |i| percent(i.global(LOAD).l2_hits + i.local(LOAD).l2_hits + i.texture().l2_hits + i.surface(LOAD).l2_hits, l2_reads(i))),
    metric!(Device, "byte", "dram_read_bytes", Some("dram__bytes_read.sum"), [],
        "load and atomic sectors that missed in L1 and L2 x 32", "Bytes read from DRAM.",
        |i| count(dram_reads(i))),
    metric!(Device, "GB/s", "dram_read_throughput", Some("dram__bytes_read.sum.per_second"), [],
        "dram_read_bytes / duration", "Bytes read from DRAM per second.",
        |i| rate(dram_reads(i), i)),
    metric!(Device, "byte", "dram_write_bytes", Some("dram__bytes_write.sum"), [],
        "sectors that L2 wrote back (line evicted, or too many dirty lines in its set) x 32; the \
         requests of all SMs replay through one L2",
        "Bytes written to DRAM, including bytes dirty before the kernel, excluding bytes still \
         dirty in L2 at its end.",
        |i| count(dram_writes(i))),
    metric!(Device, "GB/s", "dram_write_throughput", Some("dram__bytes_write.sum.per_second"), [],
        "dram_write_bytes / duration", "Bytes written to DRAM per second.",
        |i| rate(dram_writes(i), i)),

    metric!(ours Shared, "request", "shared_load_requests", None, [],
        "shared loads executed by warps with at least one reading lane",
        "Warp-level shared-memory loads; NVIDIA's counters include loads whose lanes are all \
         predicated off.",
        |i| count(i.shared(LOAD).requests)),
    metric!(Shared, "inst", "inst_executed_shared_loads", Some("smsp__inst_executed_op_shared_ld.sum"),
        ["shared_load"],
        "LDS executed by warps", "Shared loads, those whose lanes are all predicated off included. \
         Only machine code shows them all.",
        |i| i.totals.opcodes.and_then(|opcodes| count(opcodes.shared_loads))),
    metric!(Shared, "inst", "inst_executed_shared_stores", Some("smsp__inst_executed_op_shared_st.sum"),
        ["shared_store"],
        "STS executed by warps", "Shared stores, those whose lanes are all predicated off included. \
         Only machine code shows them all.",
        |i| i.totals.opcodes.and_then(|opcodes| count(opcodes.shared_stores))),
    metric!(Shared, "wavefront", "shared_load_transactions", Some("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
        ["shared_ld_transactions"],
        "wavefronts of shared loads", "Passes over the banks for shared loads.",
        |i| count(i.shared(LOAD).wavefronts)),
    metric!(Shared, "wavefront/request", "shared_load_transactions_per_request", None, [],
        "shared_load_transactions / shared_load_requests", "Average passes per shared load; 1 without conflicts for 32-bit words.",
        |i| per(i.shared(LOAD).wavefronts, i.shared(LOAD).requests)),
    metric!(Shared, "wavefront", "shared_ld_bank_conflict", Some("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), [],
        "shared_load_transactions - conflict-free load wavefronts", "Extra passes of loads because of bank conflicts.",
        |i| count(i.shared(LOAD).bank_conflicts())),
    metric!(ours Shared, "request", "shared_store_requests", None, [],
        "shared stores executed by warps with at least one writing lane",
        "Warp-level shared-memory stores; NVIDIA's counters include stores whose lanes are all \
         predicated off.",
        |i| count(i.shared(STORE).requests)),
    metric!(Shared, "wavefront", "shared_store_transactions", Some("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
        ["shared_st_transactions"],
        "wavefronts of shared stores", "Passes over the banks for shared stores.",
        |i| count(i.shared(STORE).wavefronts)),
    metric!(Shared, "wavefront/request", "shared_store_transactions_per_request", None, [],
        "shared_store_transactions / shared_store_requests", "Average passes per shared store.",
        |i| per(i.shared(STORE).wavefronts, i.shared(STORE).requests)),
    metric!(Shared, "wavefront", "shared_st_bank_conflict", Some("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"), [],
        "shared_store_transactions - conflict-free store wavefronts", "Extra passes of stores because of bank conflicts.",
        |i| count(i.shared(STORE).bank_conflicts())),
    metric!(ours Shared, "wavefront", "shared_copy_transactions", Some("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"), [],
        "wavefronts of asynchronous copies to shared memory", "Passes over the banks for what \
         `cp.async` writes; these are no shared stores.",
        |i| count(i.totals.shared_copies.wavefronts)),
    metric!(ours Shared, "wavefront", "shared_atomic_transactions", Some("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"), [],
        "wavefronts of shared atomics", "Passes over the banks for shared atomics: one for each \
         lane on a bank, two if it compares.",
        |i| count(i.shared(ATOMIC).wavefronts)),
    metric!(ours Shared, "wavefront", "shared_atomic_bank_conflict", Some("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"), [],
        "further lanes of shared atomics on a bank", "Extra passes of atomics because of bank conflicts.",
        |i| count(i.shared(ATOMIC).bank_conflicts())),
    metric!(Shared, "%", "shared_efficiency", Some("smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"), [],
        "100 x requested bytes / (wavefronts x banks x 4), loads and stores",
        "Requested bytes as a share of the bandwidth used; above 100 if lanes read the same word.",
        |i| {
            let (load, store) = (i.shared(LOAD), i.shared(STORE));
            percent(load.requested_bytes + store.requested_bytes, (load.wavefronts + store.wavefronts) * wavefront_bytes(i))
        }),
    metric!(Shared, "1/inst", "shared_replay_overhead", None, [],
        "(wavefronts - requests of shared loads and stores) / inst_executed",
        "Passes beyond the first, per instruction; a GPU that replays instructions issues these \
         again.",
        |i| {
            let (load, store) = (i.shared(LOAD), i.shared(STORE));
            let again = (load.wavefronts + store.wavefronts).saturating_sub(load.requests + store.requests);
            per(again, i.totals.inst_executed)
        }),

    metric!(Local, "request", "local_load_requests", Some("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"),
        ["local_load", "inst_executed_local_loads"],
        "local loads executed by warps", "Warp-level local-memory loads.",
        |i| count(i.local(LOAD).requests)),
    metric!(Local, "sector", "local_load_transactions", Some("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"), [],
        "distinct 32-byte sectors of each local load, summed", "Sectors that local loads looked up in L1.",
        |i| count(i.local(LOAD).sectors)),
    metric!(Local, "sector/request", "local_load_transactions_per_request", None, [],
        "local_load_transactions / local_load_requests", "Average sectors per local load.",
        |i| per(i.local(LOAD).sectors, i.local(LOAD).requests)),
    metric!(Local, "request", "local_store_requests", Some("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"),
        ["local_store", "inst_executed_local_stores"],
        "local stores executed by warps", "Warp-level local-memory stores.",
        |i| count(i.local(STORE).requests)),
    metric!(Local, "sector", "local_store_transactions", Some("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"), [],
        "distinct 32-byte sectors of each local store, summed", "Sectors that local stores wrote to.",
        |i| count(i.local(STORE).sectors)),
    metric!(Local, "sector/request", "local_store_transactions_per_request", None, [],
        "local_store_transactions / local_store_requests", "Average sectors per local store.",
        |i| per(i.local(STORE).sectors, i.local(STORE).requests)),
    metric!(Local, "%", "local_hit_rate", None, [],
        "100 x local sectors that hit in L1 / local sectors, loads and stores", "Share of the local sectors that hit in L1.",
        |i| {
            let (load, store) = (i.local(LOAD), i.local(STORE));
            percent(load.l1_hits + store.l1_hits, load.sectors + store.sectors)
        }),

    metric!(Texture, "request", "tex_cache_requests", Some("l1tex__t_requests_pipe_tex_mem_texture.sum"), [],
        "groups of 4 lanes (8 of linear memory) that fetch from a texture", "Requests of texture fetches to L1.",
        |i| count(i.texture().requests)),
    metric!(Texture, "sector", "tex_cache_transactions", Some("l1tex__t_sectors_pipe_tex_mem_texture.sum"), [],
        "distinct 32-byte sectors of the texels of each request, summed",
        "Sectors that texture fetches looked up in L1.",
        |i| count(i.texture().sectors)),
    metric!(Texture, "sector/request", "tex_cache_transactions_per_request", None, [],
        "tex_cache_transactions / tex_cache_requests", "Average sectors per request of a texture fetch.",
        |i| per(i.texture().sectors, i.texture().requests)),
    metric!(Texture, "%", "tex_cache_hit_rate", Some("l1tex__t_sector_pipe_tex_mem_texture_hit_rate.pct"), [],
        "100 x texture sectors that hit in L1 / tex_cache_transactions",
        "Share of the texture sectors that hit in L1.",
        |i| percent(i.texture().l1_hits, i.texture().sectors)),
    metric!(Texture, "request", "surface_load_requests", Some("l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum"), [],
        "groups of 8 lanes that load from a surface", "Requests of loads from surfaces to L1.",
        |i| count(i.surface(LOAD).requests)),
    metric!(Texture, "sector", "surface_load_transactions", Some("l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum"), [],
        "distinct 32-byte sectors of each request, summed",
        "Sectors that loads from surfaces looked up in L1.",
        |i| count(i.surface(LOAD).sectors)),
    metric!(Texture, "request", "surface_store_requests", Some("l1tex__t_requests_pipe_tex_mem_surface_op_st.sum"), [],
        "groups of 8 lanes that store to a surface", "Requests of stores to surfaces to L1.",
        |i| count(i.surface(STORE).requests)),
    metric!(Texture, "sector", "surface_store_transactions", Some("l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum"), [],
        "distinct 32-byte sectors of each request, summed",
        "Sectors that stores to surfaces wrote to.",
        |i| count(i.surface(STORE).sectors)),
    metric!(Texture, "request", "surface_reduction_requests", Some("l1tex__t_requests_pipe_tex_mem_surface_op_red.sum"), [],
        "groups of 8 lanes that reduce to a surface", "Requests of reductions to surfaces to L1.",
        |i| count(i.surface(ATOMIC).requests)),
];
