// How a thread of a body ends, and the barriers of bodies whose threads may end before one.
// Threads that end early still owe the others something: their word of a lane meeting
// (lane_meeting.hpp) and, where barriers follow, that these count them no more. They must not wait
// for a thread that lives on before they have given it, and an assembler may let the lanes of a
// warp wait for each other before any place that several ways lead to. So a thread pays where it
// ends, under the end's own guard, before it goes anywhere, and then owes nothing.
//
// Barriers that threads may end before are an mbarrier: its threads arrive and look until the
// phase is over, and those that end drop out. A barrier of the processor would not do: there a
// warp waits for all its lanes that have not exited, and a worker's lanes never exit.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "megakernel/cuda/rewrite/lane_meeting.hpp"
#include "megakernel/cuda/rewrite/rewrite_context.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

class BodyEnd {
 public:
  // `body` is the kernel's own.
  BodyEnd(const RewriteContext& context, const ptx::Block& body);

  // open() goes at the start of a body, to which whole warps of its threads come.
  void open(ptx::Block& out) const;

  // is_end() says whether an instruction does nothing but end the thread, at once or by a branch.
  bool is_end(const ptx::Instruction& instruction) const;

  // write() is such an instruction, or the end without one: under `guard`, if there is one.
  void write(ptx::Block& out, const std::optional<ptx::Guard>& guard) const;

  // meet() is a barrier of the threads that have not ended.
  void meet(ptx::Block& out);

 private:
  // owes() says whether an end is more than a return.
  bool owes() const;

  const RewriteContext& context_;
  const LaneMeeting meeting_;
  std::set<std::string> labels_;  // those behind which nothing but the end stands
  bool waits_for_copies_ = false;
  unsigned barriers_ = 0;
};

}  // namespace sluice::megakernel
