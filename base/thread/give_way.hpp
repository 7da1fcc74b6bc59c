// Letting other threads run from within a busy wait.
#pragma once

namespace sluice {

// give_way() lets another thread that waits for the calling one's processor run, since it may be
// who is waited for. Where others than threads that soon wait themselves compete for the processor
// it does so once in a while only: Linux 6.18 takes a whole slice of time from who yields, each
// time, so that a program that yields in each of its waits takes 40 times as long beside one busy
// process for each processor as alone.
void give_way();

// note_work() says that the calling thread has worked where it runs, for some time or not: those
// who have given way to it go on giving way.
void note_work();

}  // namespace sluice
