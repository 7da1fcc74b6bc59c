// Where lanes of a warp must meet: see warp_meetings.hpp.
#pragma once

#include <map>
#include <set>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include "hostcuda/jit/convergence/lane_conflicts.hpp"

namespace sluice::hostcuda::jit {

// MeetingPlaces goes along all paths of a thread function with what a lane may have accessed since
// it last met the others.
class MeetingPlaces {
 public:
  MeetingPlaces(llvm::Function& function, const Dim3& block);

  // find() returns the instructions before which lanes must meet. Where that is a wait of a single
  // instruction (is_wait()), it is the meeting.
  const std::set<llvm::Instruction*>& find();

  // joins() are the blocks where lanes that part inside a loop, and then meet in part, come
  // together again.
  std::set<llvm::BasicBlock*> joins() const;

  const llvm::LoopInfo& loops() const { return loops_; }
  const llvm::DominatorTree& dominators() const { return dominators_; }

 private:
  // Accesses since the lanes last met, by number, each with the loops of which a further round may
  // have begun since.
  using Pending = std::map<unsigned, uint64_t>;

  // Branch is one where lanes may part, and where they meet again.
  struct Branch {
    llvm::BasicBlock* join = nullptr;
    std::vector<llvm::BasicBlock*> between;
  };

  static bool add_all(Pending& to, const Pending& from, uint64_t rounds = 0);
  void find_branches();
  void follow();
  Pending follow_block(llvm::BasicBlock& block, Pending pending);
  Pending left_between(const Branch& branch) const;
  uint64_t rounds_begun(const llvm::BasicBlock& from, const llvm::BasicBlock& to) const;
  bool is_meeting(const llvm::Instruction& instruction) const;
  bool meets_in(const Branch& branch) const;
  std::vector<const llvm::Instruction*> conflicting(unsigned access, const Pending& pending);
  llvm::Instruction* place_for(llvm::Instruction& access,
                               llvm::ArrayRef<const llvm::Instruction*> rivals) const;
  static llvm::Instruction* own_wait(llvm::Instruction& access);
  llvm::Instruction* place_before_branches(llvm::Instruction& access,
                                           llvm::ArrayRef<const llvm::Instruction*> rivals) const;

  llvm::Function& function_;
  const llvm::DominatorTree dominators_;
  const llvm::PostDominatorTree post_dominators_;
  const llvm::LoopInfo loops_;
  LaneAccesses accesses_;
  LaneConflicts conflicts_;
  std::map<const llvm::Instruction*, unsigned> numbers_;  // of accesses that have rivals
  std::vector<std::vector<unsigned>> rivals_;
  std::vector<Branch> branches_;
  std::set<llvm::Instruction*> places_;
};

}  // namespace sluice::hostcuda::jit
