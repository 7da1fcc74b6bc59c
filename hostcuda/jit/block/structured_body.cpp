#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "hostcuda/jit/block/block_body.hpp"
#include "hostcuda/jit/block/call_runtime.hpp"
#include "hostcuda/jit/block/region_emitter.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace llvm;

// Starts are where regions begin in the block function, made when first asked for.
class Starts {
 public:
  BasicBlock* of(BasicBlock* entry, Function* function) {
    BasicBlock*& start = starts_[entry];
    if (!start) {
      start = BasicBlock::Create(function->getContext(), "region", function);
      pending_.push_back(entry);
    }
    return start;
  }
  // next() is an entry whose region is yet to be emitted; null where there is none.
  BasicBlock* next() {
    if (pending_.empty()) return nullptr;
    BasicBlock* entry = pending_.back();
    pending_.pop_back();
    return entry;
  }

 private:
  DenseMap<BasicBlock*, BasicBlock*> starts_;
  std::vector<BasicBlock*> pending_;
};

// takes_warps() tells the blocks whose warps run one after the other from one point where the whole
// block meets to the next: what lanes tell each other stays in registers then.
bool takes_warps(const KernelContext& context, const KernelRegions& regions) {
  return context.block.x % 32 == 0 && any_of(regions.points, WarpExchange::takes);
}

// meets_in_warps() tells the points to which the lanes of a warp may come without other warps.
bool meets_in_warps(const SyncPoint& point) {
  return point.is_lockstep || point.code.operation == SyncOperation::meeting ||
         WarpExchange::takes(point);
}

std::vector<BasicBlock*> block_entries(const KernelRegions& regions) {
  std::vector<BasicBlock*> entries;
  for (const SyncPoint& point : regions.points)
    if (!meets_in_warps(point)) entries.push_back(point.after);
  return entries;
}

class StructuredEmitter {
 public:
  StructuredEmitter(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout)
      : frame_(frame),
        regions_(regions),
        layout_(layout),
        by_warps_(takes_warps(frame.context, regions)),
        emitter_(frame, regions, layout, by_warps_, block_entries(regions)) {}

  BlockBody emit() {
    finish_ = block("finish");
    ReturnInst::Create(frame_.llvm_context(), finish_);
    BranchInst::Create(starts_.of(&frame_.thread.function->getEntryBlock(), frame_.function),
                       frame_.entry);
    while (BasicBlock* entry = starts_.next()) {
      BasicBlock* start = starts_.of(entry, frame_.function);
      by_warps_ ? emit_section(entry, start) : go_on(emitter_.emit(entry, start, nullptr));
    }
    return {frame_.function, frame_.layout.bytes(), emitter_.bytes_below_shared(),
            regions_.most_blocks, regions_.kept_blocks * frame_.shared_stride()};
  }

 private:
  // Section is what a warp runs from one point where the whole block meets to the next: the regions
  // that it comes to on its way, which all warps leave by the same cut.
  struct Section {
    WarpLoops warps;
    Value* warp = nullptr;  // i64: its number in the block
    Starts starts;
    KeptValues::UniformValues left;  // by the warps before
    std::vector<BasicBlock*> exits;  // cuts; null: all threads have ended
    AllocaInst* exit = nullptr;      // which one the warps took
  };

  BasicBlock* block(const char* name) const {
    return BasicBlock::Create(frame_.llvm_context(), name, frame_.function);
  }

  void emit_section(BasicBlock* first, BasicBlock* start) {
    Section section;
    IRBuilder<> ir(frame_.entry, frame_.entry->begin());
    section.exit = ir.CreateAlloca(ir.getInt32Ty(), nullptr, "exit");
    section.warps = open_warp_loops(start, frame_.context.block);
    ir.SetInsertPoint(section.warps.body);
    section.warp = ir.CreateLShr(section.warps.linear, 5, "warp");
    if (regions_.early_exits) leave_where_none_is_alive(ir, section, section.warps.latch);
    IRBuilder<> before(start->getTerminator());
    section.left = emitter_.kept().begin_warp(first, before, ir);
    ir.CreateBr(section.starts.of(first, frame_.function));
    bool ends = false;
    while (BasicBlock* entry = section.starts.next()) {
      const RegionEnd end =
          emitter_.emit(entry, section.starts.of(entry, frame_.function), &section.warps);
      ends |= end.ends;
      go_on_in(section, end);
    }
    ir.SetInsertPoint(section.warps.done);
    if (ends) finish_where_all_have_ended(ir);
    SwitchInst* next = ir.CreateSwitch(ir.CreateLoad(ir.getInt32Ty(), section.exit), finish_);
    for (size_t i = 0; i < section.exits.size(); ++i) {
      BasicBlock* leave = block("leave");
      next->addCase(ir.getInt32(static_cast<uint32_t>(i)), leave);
      go_on({.done = leave, .cut = section.exits[i]});
    }
  }

  // After the loop over a warp's lanes: what they exchange, a branch that all warps take alike, or
  // the end of the section.
  void go_on_in(Section& section, const RegionEnd& end) {
    IRBuilder<> ir(end.done);
    const SyncPoint* point = end.cut ? emitter_.point_of(end.cut) : nullptr;
    if (end.cut && end.ends && regions_.early_exits) {
      BasicBlock* ended = block("warp.ended");
      IRBuilder<> drop(ended);
      emitter_.kept().drop_warp(drop, section.left);
      drop.CreateBr(section.warps.latch);
      leave_where_none_is_alive(ir, section, ended);
    }
    if (!end.cut || (point && !meets_in_warps(*point))) {
      ir.CreateStore(ir.getInt32(static_cast<uint32_t>(section.exits.size())), section.exit);
      section.exits.push_back(end.cut);
      ir.CreateBr(section.warps.latch);
    } else if (point) {
      if (WarpExchange::takes(*point)) emitter_.exchange().meet(ir, *point, section.warp);
      ir.CreateBr(section.starts.of(point->after, frame_.function));
    } else {
      branch(ir, end, section.starts);
    }
  }

  void leave_where_none_is_alive(IRBuilder<>& ir, const Section& section, BasicBlock* elsewhere) {
    auto* lanes = FixedVectorType::get(ir.getInt8Ty(), 32);
    Value* alive = ir.CreateAlignedLoad(
        lanes, frame_.element(ir, emitter_.alive(), 32, section.warp), Align(32));
    BasicBlock* some = block("some.alive");
    ir.CreateCondBr(ir.CreateIsNotNull(ir.CreateOrReduce(alive)), some, elsewhere);
    ir.SetInsertPoint(some);
  }

  void finish_where_all_have_ended(IRBuilder<>& ir) {
    if (!regions_.early_exits) return;
    BasicBlock* some = block("some.alive");
    Value* count = ir.CreateLoad(ir.getInt32Ty(), emitter_.alive_count());
    ir.CreateCondBr(ir.CreateIsNull(count), finish_, some);
    ir.SetInsertPoint(some);
  }

  // After the loops over threads: the exchange, the uniform branch, or the block's end.
  void go_on(const RegionEnd& end) {
    IRBuilder<> ir(end.done);
    if (!end.cut) {
      ir.CreateBr(finish_);
      return;
    }
    if (end.ends) finish_where_all_have_ended(ir);
    const SyncPoint* point = emitter_.point_of(end.cut);
    if (!point) return branch(ir, end, starts_);
    meet(ir, *point);
    ir.CreateBr(starts_.of(point->after, frame_.function));
  }

  // meet() emits what the threads of the whole block do at a point.
  void meet(IRBuilder<>& ir, const SyncPoint& point) {
    const SyncOperation operation = point.code.operation;
    if (WarpExchange::takes(point)) return emitter_.exchange().meet(ir, point, nullptr);
    if (operation == SyncOperation::barrier || operation == SyncOperation::yield ||
        operation == SyncOperation::meeting || point.is_lockstep)
      return;
    Value* alive = regions_.early_exits ? frame_.element(ir, emitter_.alive(), 1, ir.getInt64(0))
                                        : ConstantPointerNull::get(ir.getPtrTy());
    const auto number = static_cast<uint32_t>(&point - regions_.points.data());
    call_exchange(ir, layout_, number, frame_.memory, alive);
  }

  // branch() emits a branch that all threads take alike, by what they said of it.
  void branch(IRBuilder<>& ir, const RegionEnd& end, Starts& starts) {
    Instruction* branch = end.cut->getTerminator()->clone();
    branch->setMetadata(LLVMContext::MD_loop, nullptr);
    branch->setOperand(0, ir.CreateLoad(end.condition->getAllocatedType(), end.condition));
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
      branch->setSuccessor(i,
                           starts.of(end.cut->getTerminator()->getSuccessor(i), frame_.function));
    ir.Insert(branch);
  }

  BodyFrame& frame_;
  const KernelRegions& regions_;
  ExchangePlan& layout_;
  const bool by_warps_;
  RegionEmitter emitter_;
  Starts starts_;
  BasicBlock* finish_ = nullptr;
};

}  // namespace

BlockBody emit_structured(BodyFrame& frame, const KernelRegions& regions, ExchangePlan& layout) {
  return StructuredEmitter(frame, regions, layout).emit();
}

}  // namespace sluice::hostcuda::jit
