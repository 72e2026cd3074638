//! Time: SMs, schedulers, scoreboard, pipes, memory system, block dispatch.
