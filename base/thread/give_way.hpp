// Letting other threads run from within a busy wait.
#pragma once

namespace sluice {

// give_way() lets another thread that waits for the calling one's processor run, since it may be
// who is waited for. Where other processes compete for the processors it does so only once in a
// while: Linux 6.18 takes a whole slice of time from a thread that yields, each time. A program
// that waits often, and yields each time, takes 40 times as long beside a busy process for each
// processor as it takes alone. Thread-safe.
void give_way();

// note_work() says that the calling thread has worked where it runs, for some time or not: those
// who have given way to it go on giving way.
void note_work();

}  // namespace sluice
