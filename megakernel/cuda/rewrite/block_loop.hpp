// How the threads of a worker go from one block of a task to the next by themselves, with no word
// from the scheduler between: text of PTX, opened before a block's code and closed behind it. The
// code stands at the label block_code and goes to block_end where it ends; registers
// %sl_ctaid_x, y and z are the block's place.
//
// A call, its way through the scheduler and all that a body works out anew for each block take
// longer than a small block's own instructions: half of a stencil's time on an H200.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::megakernel {

constexpr const char* block_code = "$sluice_block";
constexpr const char* block_end = "$sluice_block_end";

// place_parameters() declares the function's parameters, and read_place() reads them: the place of
// the task's first block.
std::string place_parameters();
std::string read_place();

// A group of so many threads, whole warps, takes each block that is as many further as there are
// groups (SluiceSlot's at_once); 0: the worker runs one block at a time, and so all of them.
// `meet` is what a group does before its next block.
std::string open_blocks(uint32_t group_threads);
std::string close_blocks(uint32_t group_threads, const std::string& meet);

}  // namespace sluice::megakernel
