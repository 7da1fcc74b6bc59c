#include "hostcuda/jit/threads/thread_array.hpp"

#include <llvm/Support/MathExtras.h>

namespace sluice::hostcuda::jit {

using namespace llvm;

ThreadArray ThreadArray::of_block(BodyFrame& frame, Type* element) {
  ThreadArray array;
  array.frame_ = &frame;
  array.type_ = element;
  array.bytes_ = frame.function->getParent()->getDataLayout().getTypeAllocSize(element);
  array.offset_ = frame.layout.reserve(array.bytes_ * alignTo(frame.kept_threads(), 32));
  return array;
}

ThreadArray ThreadArray::of_warp(BodyFrame& frame, Type* element) {
  ThreadArray array;
  array.frame_ = &frame;
  array.type_ = element;
  IRBuilder<> ir(frame.entry, frame.entry->begin());
  array.variable_ = ir.CreateAlloca(ArrayType::get(element, 32), nullptr, "lanes");
  array.variable_->setAlignment(Align(64));
  array.variable_->setMetadata(lane_variable, MDNode::get(ir.getContext(), {}));
  return array;
}

Value* ThreadArray::element(IRBuilder<>& ir, const ThreadLoops& loops) const {
  if (variable_) return ir.CreateInBoundsGEP(type_, variable_, loops.lane);
  return frame_->element(ir, offset_, bytes_, loops.linear);
}

Value* ThreadArray::lanes(IRBuilder<>& ir, Value* warp) const {
  return variable_ ? variable_ : frame_->element(ir, offset_, bytes_ * 32, warp);
}

}  // namespace sluice::hostcuda::jit
