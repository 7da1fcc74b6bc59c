// Loads and stores. A vector access becomes one access for each element, so that loops over
// threads vectorise and the analysis sees scalar elements.
#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"
#include "ptx/visit.hpp"

namespace sluice::ptx::lift_detail {

namespace {

struct Access {
  StateSpace space = StateSpace::none;
  ScalarType type = ScalarType::none;
  unsigned elements = 1;
  bool is_volatile = false;
  llvm::AtomicOrdering ordering = llvm::AtomicOrdering::NotAtomic;
};

// take_access() takes all modifiers of ld and st. Scopes are widened to the whole system, which
// orders more and never less; cache and eviction hints change no result.
Access take_access(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  Access access;
  access.is_volatile = modifiers.take("volatile");
  if (modifiers.take("mmio")) access.is_volatile = true;
  modifiers.take("weak");
  if (modifiers.take("relaxed")) access.ordering = llvm::AtomicOrdering::Monotonic;
  if (modifiers.take("acquire")) access.ordering = llvm::AtomicOrdering::Acquire;
  if (modifiers.take("release")) access.ordering = llvm::AtomicOrdering::Release;
  if (access.ordering != llvm::AtomicOrdering::NotAtomic) {
    modifiers.take_any({"cta", "cluster", "gpu", "sys"});
  }
  access.space = take_space(lifter);
  // .cv fetches again at each access, which is what volatile says.
  if (modifiers.take("cv")) access.is_volatile = true;
  modifiers.take_all({"nc", "ca", "cg", "cs", "lu", "wb", "wt"});
  const bool has_policy = modifiers.take("L2::cache_hint");
  if (lifter.operand_count() > 2 && !has_policy) lifter.refuse_invalid("an operand is too many");
  modifiers.take_prefixed("L1::");
  modifiers.take_prefixed("L2::");
  if (auto vector = modifiers.take_any({"v2", "v4", "v8"})) {
    access.elements = static_cast<unsigned>(vector->back() - '0');
  }
  access.type = lifter.take_type();
  if (value_type(lifter.ir().getContext(), access.type) == nullptr ||
      access.type == ScalarType::pred) {
    lifter.refuse_unsupported("type ." + std::string(name(access.type)) + " is not supported");
  }
  return access;
}

// A scalar .param variable accessed as a whole keeps its own type, so that it can be promoted.
bool is_whole_parameter(const MemoryPlace& place, const Access& access) {
  return place.parameter != nullptr && place.parameter->value_type != nullptr && place.bytes == 0 &&
         access.elements == 1 &&
         place.parameter->value_type->getPrimitiveSizeInBits() == bit_width(access.type);
}

llvm::Align alignment_of(const Access& access, unsigned element) {
  const uint64_t size = size_in_bytes(access.type);
  return llvm::commonAlignment(llvm::Align(llvm::PowerOf2Ceil(size * access.elements)),
                               element * size);
}

}  // namespace

std::vector<const Operand*> take_elements(InstructionLifter& lifter, size_t index, size_t count) {
  std::vector<const Operand*> elements = elements_of(lifter.operand(index));
  if (elements.size() != count) {
    lifter.refuse_invalid("the number of its operands is not that of its vector");
  }
  return elements;
}

void lift_ld(InstructionLifter& lifter) {
  const Access access = take_access(lifter);
  const auto destinations = take_elements(lifter, 0, access.elements);
  const MemoryPlace place = find_place(lifter, lifter.operand(1), access.space);
  llvm::IRBuilder<>& ir = lifter.ir();
  if (is_whole_parameter(place, access)) {
    llvm::Value* value = ir.CreateLoad(place.parameter->value_type, place.parameter->pointer);
    value = from_bits(lifter.ir(), to_bits(lifter.ir(), value),
                      value_type(lifter.ir().getContext(), access.type));
    return lifter.write(0, value, access.type);
  }
  llvm::Type* type = value_type(lifter.ir().getContext(), access.type);
  std::vector<llvm::Value*> values;
  for (unsigned i = 0; i < access.elements; ++i) {
    llvm::Value* pointer = pointer_at(lifter, place, uint64_t{i} * size_in_bytes(access.type));
    llvm::LoadInst* load = tag(
        lifter, ir.CreateAlignedLoad(type, pointer, alignment_of(access, i), access.is_volatile));
    if (access.ordering != llvm::AtomicOrdering::NotAtomic) load->setAtomic(access.ordering);
    values.push_back(load);
  }
  for (unsigned i = 0; i < access.elements; ++i)
    lifter.write(*destinations[i], values[i], access.type);
}

void lift_st(InstructionLifter& lifter) {
  const Access access = take_access(lifter);
  const auto sources = take_elements(lifter, 1, access.elements);
  const MemoryPlace place = find_place(lifter, lifter.operand(0), access.space);
  llvm::IRBuilder<>& ir = lifter.ir();
  if (is_whole_parameter(place, access)) {
    llvm::Value* value = to_bits(lifter.ir(), lifter.read(*sources[0], access.type));
    ir.CreateStore(from_bits(lifter.ir(), value, place.parameter->value_type),
                   place.parameter->pointer);
    return;
  }
  for (unsigned i = 0; i < access.elements; ++i) {
    llvm::Value* value = lifter.read(*sources[i], access.type);
    llvm::Value* pointer = pointer_at(lifter, place, uint64_t{i} * size_in_bytes(access.type));
    llvm::StoreInst* store = tag(
        lifter, ir.CreateAlignedStore(value, pointer, alignment_of(access, i), access.is_volatile));
    if (access.ordering != llvm::AtomicOrdering::NotAtomic) store->setAtomic(access.ordering);
  }
}

void lift_prefetch(InstructionLifter& lifter) {
  // A hint about caches: it changes no result, so it becomes nothing.
  take_space(lifter);
  if (!lifter.modifiers.take_any({"L1", "L2"}) && lifter.modifiers.take_prefixed("L2::") == 0) {
    lifter.refuse_invalid("its cache level is missing");
  }
}

}  // namespace sluice::ptx::lift_detail
