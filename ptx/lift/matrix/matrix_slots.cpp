// What the matrix instructions share: modifiers, fragments as registers, the call.
#include <algorithm>
#include <charconv>

#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/matrix/matrix.hpp"
#include "ptx/lift/tagged.hpp"
#include "ptx/visit.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using matrix_call::Element;
using matrix_call::Operation;

struct NamedElement {
  std::string_view name;
  Element element;
};
constexpr NamedElement named_elements[] = {
    {"f16", Element::f16}, {"bf16", Element::bf16}, {"tf32", Element::tf32}, {"f32", Element::f32},
    {"f64", Element::f64}, {"s8", Element::s8},     {"u8", Element::u8},     {"s4", Element::s4},
    {"u4", Element::u4},   {"b1", Element::b1},     {"s32", Element::s32}};

ScalarType slot_scalar(const Operation& operation) {
  return matrix_call::slot_bytes(operation) == 8 ? ScalarType::b64 : ScalarType::b32;
}

bool parse_extent(std::string_view& text, char letter, unsigned& extent) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

}  // namespace

MatrixShape take_shape(InstructionLifter& lifter) {
  const auto text = lifter.modifiers.take_first(
      {"m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128", "m8n32k16", "m16n8k4", "m16n8k8", "m16n8k16",
       "m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256", "m16n16k8", "m16n16k16", "m32n8k16"});
  if (!text) lifter.refuse_unsupported("its shape is missing or not supported");
  MatrixShape shape;
  std::string_view rest = *text;
  if (!parse_extent(rest, 'm', shape.m) || !parse_extent(rest, 'n', shape.n) ||
      !parse_extent(rest, 'k', shape.k)) {
    lifter.refuse_invalid("its shape cannot be read");
  }
  return shape;
}

bool is_among(const MatrixShape& shape, std::initializer_list<MatrixShape> shapes) {
  return std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
}

void set_shape(Operation& operation, const MatrixShape& shape) {
  operation.m = static_cast<uint16_t>(shape.m);
  operation.n = static_cast<uint16_t>(shape.n);
  operation.k = static_cast<uint16_t>(shape.k);
}

Element take_element(InstructionLifter& lifter) {
  const auto text = lifter.modifiers.take_first(
      {"f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "s32"});
  for (const NamedElement& named : named_elements) {
    if (text == named.name) return named.element;
  }
  lifter.refuse_unsupported("a matrix's type is missing or not supported");
}

void take_sync_aligned(InstructionLifter& lifter) {
  if (!lifter.modifiers.take("sync") || !lifter.modifiers.take("aligned")) {
    lifter.refuse_invalid("it needs .sync.aligned");
  }
}

void wait_for_warp(InstructionLifter& lifter) {
  llvm::Function* wait =
      tagged_call(lifter, matrix_call::wait_name, lifter.ir().getVoidTy(), {})->getCalledFunction();
  wait->addFnAttr(llvm::Attribute::Convergent);
  // It orders accesses of different lanes, and none of one lane's own.
  wait->setOnlyAccessesInaccessibleMemory();
}

llvm::Type* slot_type(InstructionLifter& lifter, const Operation& operation) {
  return lifter.ir().getIntNTy(8 * matrix_call::slot_bytes(operation));
}

void read_slots(InstructionLifter& lifter, size_t operand, unsigned count,
                const Operation& operation, std::vector<llvm::Value*>& slots) {
  const auto registers = elements_of(lifter.operand(operand));
  if (registers.size() < count) lifter.refuse_invalid("a fragment has too few registers");
  for (unsigned i = 0; i < count; ++i) {
    const ScalarType declared = declared_type(lifter, *registers[i]);
    // A register of floats is read as its bits; literals are not allowed in fragments.
    if (declared == ScalarType::none) lifter.refuse_invalid("a fragment has what is no register");
    slots.push_back(lifter.read(*registers[i], slot_scalar(operation)));
  }
}

void write_slots(InstructionLifter& lifter, size_t operand, const Operation& operation,
                 llvm::ArrayRef<llvm::Value*> slots) {
  const auto registers = elements_of(lifter.operand(operand));
  if (registers.size() < slots.size()) lifter.refuse_invalid("a fragment has too few registers");
  for (size_t i = 0; i < registers.size(); ++i)
    lifter.write(*registers[i], slots[i % slots.size()], slot_scalar(operation));
}

std::vector<llvm::Value*> call_matrix(InstructionLifter& lifter, const Operation& operation,
                                      llvm::ArrayRef<llvm::Value*> slots) {
  const unsigned count = matrix_call::result_slots(operation);
  llvm::Type* result = llvm::ArrayType::get(slot_type(lifter, operation), count);
  llvm::CallInst* call = tagged_call(lifter, matrix_call::name(operation), result, slots);
  llvm::Function* callee = call->getCalledFunction();
  callee->addFnAttr(llvm::Attribute::Convergent);
  callee->addFnAttr(llvm::Attribute::WillReturn);
  callee->setDoesNotAccessMemory();
  std::vector<llvm::Value*> results;
  for (unsigned i = 0; i < count; ++i)
    results.push_back(lifter.ir().CreateExtractValue(call, i));
  return results;
}

llvm::Value* lane(InstructionLifter& lifter) {
  using namespace llvm::Intrinsic;
  llvm::IRBuilder<>& ir = lifter.ir();
  const auto special = [&](ID id) { return lifter.ir().CreateIntrinsic(id, {}, {}); };
  llvm::Value* thread = special(nvvm_read_ptx_sreg_tid_z);
  thread = ir.CreateMul(thread, special(nvvm_read_ptx_sreg_ntid_y));
  thread = ir.CreateAdd(thread, special(nvvm_read_ptx_sreg_tid_y));
  thread = ir.CreateMul(thread, special(nvvm_read_ptx_sreg_ntid_x));
  thread = ir.CreateAdd(thread, special(nvvm_read_ptx_sreg_tid_x));
  return ir.CreateAnd(thread, ir.getInt32(matrix_call::warp_lanes - 1));
}

void multiply(InstructionLifter& lifter, const Operation& operation) {
  std::vector<llvm::Value*> slots;
  read_slots(lifter, 1, matrix_call::a_slots(operation), operation, slots);
  read_slots(lifter, 2, matrix_call::b_slots(operation), operation, slots);
  read_slots(lifter, 3, matrix_call::accumulator_slots(operation, operation.c), operation, slots);
  write_slots(lifter, 0, operation, call_matrix(lifter, operation, slots));
}

}  // namespace sluice::ptx::lift_detail
