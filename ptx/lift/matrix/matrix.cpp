// mma, ldmatrix, stmatrix and movmatrix.
#include "ptx/lift/matrix/matrix.hpp"

#include <array>

#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using matrix_call::Element;
using matrix_call::Kind;
using matrix_call::Operation;

bool is_byte(Element element) {
  return element == Element::s8 || element == Element::u8;
}
bool is_nibble(Element element) {
  return element == Element::s4 || element == Element::u4;
}

// has_shape() says whether PTX has mma with this shape for the element type of A.
bool has_shape(Element a, const MatrixShape& shape) {
  switch (a) {
    case Element::f16:
      return is_among(shape, {{8, 8, 4}, {16, 8, 8}, {16, 8, 16}});
    case Element::bf16:
      return is_among(shape, {{16, 8, 8}, {16, 8, 16}});
    case Element::tf32:
      return is_among(shape, {{16, 8, 4}, {16, 8, 8}});
    case Element::f64:
      return is_among(shape, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
    case Element::s8:
    case Element::u8:
      return is_among(shape, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
    case Element::s4:
    case Element::u4:
      return is_among(shape, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}});
    case Element::b1:
      return is_among(shape, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}});
    default:
      return false;
  }
}

bool has_types(const Operation& operation) {
  const bool integers = operation.c == Element::s32 && operation.d == Element::s32;
  const bool a_and_b = operation.a == operation.b ||
                       (is_byte(operation.a) && is_byte(operation.b)) ||
                       (is_nibble(operation.a) && is_nibble(operation.b));
  if (!a_and_b) return false;
  const auto is_accumulator = [](Element e) { return e == Element::f16 || e == Element::f32; };
  switch (operation.a) {
    case Element::f16:
      return is_accumulator(operation.c) && is_accumulator(operation.d);
    case Element::bf16:
    case Element::tf32:
      return operation.c == Element::f32 && operation.d == Element::f32;
    case Element::f64:
      return operation.c == Element::f64 && operation.d == Element::f64;
    default:
      return integers;
  }
}

// count_of() is .x1, .x2 or .x4.
uint8_t take_matrices(InstructionLifter& lifter) {
  const auto text = lifter.modifiers.take_any({"x1", "x2", "x4"});
  if (!text) lifter.refuse_invalid("the number of its matrices is missing");
  return static_cast<uint8_t>(text->back() - '0');
}

// Rows is the memory of ldmatrix and stmatrix: 16 bytes at the address that the lane gives, for
// the lanes whose row is one of the operation's.
struct Rows {
  MemoryPlace place;
  llvm::BasicBlock* access = nullptr;
  llvm::BasicBlock* after = nullptr;
};

Operation take_rows_operation(InstructionLifter& lifter, Kind kind) {
  take_sync_aligned(lifter);
  if (!lifter.modifiers.take("m8n8") || lifter.take_type() != ScalarType::b16) {
    lifter.refuse_unsupported("only .m8n8 and .b16 are supported");
  }
  Operation operation;
  operation.kind = kind;
  operation.matrices = take_matrices(lifter);
  if (lifter.modifiers.take("trans")) operation.flags |= matrix_call::transposed;
  return operation;
}

// open_rows() goes on in a block that only the lanes with a row enter.
Rows open_rows(InstructionLifter& lifter, const Operation& operation, size_t operand) {
  const StateSpace space = take_space(lifter);
  if (space != StateSpace::none && space != StateSpace::shared) {
    lifter.refuse_invalid("its matrices lie in shared memory");
  }
  Rows rows;
  rows.place = find_place(lifter, lifter.operand(operand), space);
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* has_row = ir.CreateICmpULT(lane(lifter), ir.getInt32(8U * operation.matrices));
  rows.access = lifter.function().new_block("rows");
  rows.after = lifter.function().new_block("rows.after");
  tag(lifter, ir.CreateCondBr(has_row, rows.access, rows.after));
  lifter.function().start(rows.access);
  return rows;
}

void close_rows(InstructionLifter& lifter, const Rows& rows) {
  tag(lifter, lifter.ir().CreateBr(rows.after));
  lifter.function().start(rows.after);
}

constexpr unsigned words_in_row = 4;

llvm::Align row_alignment(unsigned word) {
  return llvm::commonAlignment(llvm::Align(16), uint64_t{4} * word);
}

}  // namespace

void lift_mma(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  if (modifiers.take_any({"sp", "sp::ordered_metadata"})) {
    lifter.refuse_unsupported("sparse matrices are not supported");
  }
  take_sync_aligned(lifter);
  const MatrixShape shape = take_shape(lifter);
  const auto a_layout = modifiers.take_first({"row", "col"});
  const auto b_layout = modifiers.take_first({"row", "col"});
  if (!a_layout || !b_layout) lifter.refuse_invalid("a layout is missing");
  Operation operation;
  set_shape(operation, shape);
  if (modifiers.take("satfinite")) operation.flags |= matrix_call::saturates;
  operation.d = take_element(lifter);
  operation.a = take_element(lifter);
  operation.b = take_element(lifter);
  operation.c = take_element(lifter);
  if (!has_types(operation) || !has_shape(operation.a, shape)) {
    lifter.refuse_unsupported("its types and shape do not belong together");
  }
  if (operation.a == Element::f64) modifiers.take("rn");
  if (operation.a == Element::b1) {
    const bool ands = modifiers.take("and");
    if (!ands && !modifiers.take("xor")) lifter.refuse_invalid("its operation on bits is missing");
    if (!modifiers.take("popc")) lifter.refuse_invalid("it needs .popc");
    if (ands) operation.flags |= matrix_call::ands;
  }
  if (operation.a == Element::f16 && shape == MatrixShape{8, 8, 4}) {
    operation.flags |= matrix_call::quad_pairs;
    if (*a_layout == "col") operation.flags |= matrix_call::a_by_columns;
    if (*b_layout == "col") operation.flags |= matrix_call::b_by_columns;
  } else if (*a_layout != "row" || *b_layout != "col") {
    lifter.refuse_invalid("it needs .row.col");
  }
  if (lifter.operand_count() != 4) lifter.refuse_unsupported("an operand is too many");
  multiply(lifter, operation);
}

void lift_ldmatrix(InstructionLifter& lifter) {
  const Operation operation = take_rows_operation(lifter, Kind::spread_rows);
  llvm::IRBuilder<>& ir = lifter.ir();
  wait_for_warp(lifter);
  const Rows rows = open_rows(lifter, operation, 1);
  llvm::BasicBlock* before = rows.access->getSinglePredecessor();
  std::array<llvm::Value*, words_in_row> words{};
  for (unsigned i = 0; i < words_in_row; ++i) {
    words[i] =
        tag(lifter, ir.CreateAlignedLoad(ir.getInt32Ty(), pointer_at(lifter, rows.place, 4ULL * i),
                                         row_alignment(i)));
  }
  close_rows(lifter, rows);
  std::vector<llvm::Value*> slots;
  for (llvm::Value* word : words) {
    llvm::PHINode* slot = ir.CreatePHI(ir.getInt32Ty(), 2);
    slot->addIncoming(word, rows.access);
    slot->addIncoming(ir.getInt32(0), before);
    slots.push_back(slot);
  }
  write_slots(lifter, 0, operation, call_matrix(lifter, operation, slots));
}

void lift_stmatrix(InstructionLifter& lifter) {
  const Operation operation = take_rows_operation(lifter, Kind::gather_rows);
  std::vector<llvm::Value*> slots;
  read_slots(lifter, 1, operation.matrices, operation, slots);
  const std::vector<llvm::Value*> words = call_matrix(lifter, operation, slots);
  const Rows rows = open_rows(lifter, operation, 0);
  for (unsigned i = 0; i < words_in_row; ++i) {
    tag(lifter, lifter.ir().CreateAlignedStore(words[i], pointer_at(lifter, rows.place, 4ULL * i),
                                               row_alignment(i)));
  }
  close_rows(lifter, rows);
}

void lift_movmatrix(InstructionLifter& lifter) {
  take_sync_aligned(lifter);
  if (!lifter.modifiers.take("m8n8") || !lifter.modifiers.take("trans") ||
      lifter.take_type() != ScalarType::b16) {
    lifter.refuse_invalid("it needs .m8n8.trans.b16");
  }
  Operation operation;
  operation.kind = Kind::transpose;
  std::vector<llvm::Value*> slots;
  read_slots(lifter, 1, 1, operation, slots);
  write_slots(lifter, 0, operation, call_matrix(lifter, operation, slots));
}

}  // namespace sluice::ptx::lift_detail
