// wmma: fragments in the layout of matrix_call.hpp. Each lane loads and stores its own elements, so
// loads and stores are plain ones, after the warp has met.

#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/matrix/matrix.hpp"
#include "ptx/lift/tagged.hpp"

namespace sluice::ptx::lift_detail {

namespace {

using matrix_call::Element;
using matrix_call::Operation;

// Fragment is one matrix of a wmma instruction.
struct Fragment {
  char matrix = 'a';  // a, b, or c for C and D
  MatrixShape shape;
  Element element = Element::f16;
  bool by_columns = false;  // as it lies in memory
  Operation operation;      // for the sizes of slots

  unsigned slots() const {
    if (matrix == 'a') return matrix_call::a_slots(operation);
    if (matrix == 'b') return matrix_call::b_slots(operation);
    return matrix_call::accumulator_slots(operation, element);
  }
  unsigned packed() const {
    if (matrix == 'c') return element == Element::f16 ? 2 : 1;
    return matrix_call::elements_in_slot(element);
  }
  unsigned rows() const { return matrix == 'b' ? shape.k : shape.m; }
  unsigned columns() const { return matrix == 'a' ? shape.k : shape.n; }
  unsigned element_bits() const { return 8 * matrix_call::slot_bytes(operation) / packed(); }
};

// Position is a place in a matrix.
struct Position {
  llvm::Value* row = nullptr;
  llvm::Value* column = nullptr;
};

bool has_wmma(const MatrixShape& shape, Element a) {
  switch (a) {
    case Element::f16:
    case Element::bf16:
    case Element::s8:
    case Element::u8:
      return is_among(shape, {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}});
    case Element::tf32:
      return is_among(shape, {{16, 16, 8}});
    case Element::f64:
      return is_among(shape, {{8, 8, 4}});
    case Element::s4:
    case Element::u4:
      return is_among(shape, {{8, 8, 32}});
    case Element::b1:
      return is_among(shape, {{8, 8, 128}});
    default:
      return false;
  }
}

class FragmentMemory {
 public:
  FragmentMemory(InstructionLifter& lifter, const Fragment& fragment, size_t address, size_t stride,
                 StateSpace space)
      : lifter_(lifter), fragment_(fragment) {
    place_ = find_place(lifter, lifter.operand(address), space);
    llvm::IRBuilder<>& ir = lifter.ir();
    llvm::Value* in_warp = lane(lifter);
    group_ = ir.CreateLShr(in_warp, 2);
    quarter_ = ir.CreateAnd(in_warp, ir.getInt32(3));
    stride_ = ir.getInt32(fragment.by_columns ? fragment.rows() : fragment.columns());
    if (lifter.operand_count() > stride) {
      stride_ = lifter.read(stride, ScalarType::u32);
    }
    stride_ = ir.CreateZExt(stride_, ir.getInt64Ty());
  }

  llvm::Value* load(unsigned slot) {
    llvm::IRBuilder<>& ir = lifter_.ir();
    if (is_contiguous()) return load_at(slot, 0, slot_type());
    llvm::Value* word = nullptr;
    for (unsigned i = 0; i < fragment_.packed(); ++i) {
      llvm::Value* element = load_at(slot, i, ir.getIntNTy(fragment_.element_bits()));
      element = ir.CreateZExt(element, slot_type());
      element = ir.CreateShl(element, uint64_t{fragment_.element_bits()} * i);
      word = word == nullptr ? element : ir.CreateOr(word, element);
    }
    return word;
  }

  void store(unsigned slot, llvm::Value* value) {
    llvm::IRBuilder<>& ir = lifter_.ir();
    const unsigned parts = is_contiguous() ? 1 : fragment_.packed();
    llvm::Type* type = ir.getIntNTy(slot_type()->getIntegerBitWidth() / parts);
    for (unsigned i = 0; i < parts; ++i) {
      llvm::Value* part = ir.CreateLShr(value, uint64_t{fragment_.element_bits()} * i);
      tag(lifter_, ir.CreateAlignedStore(ir.CreateTrunc(part, type), pointer(slot, i),
                                         llvm::Align(type->getIntegerBitWidth() / 8)));
    }
  }

 private:
  llvm::Type* slot_type() { return lift_detail::slot_type(lifter_, fragment_.operation); }

  // The elements of a slot lie along k in A and B, along the row in C.
  bool is_contiguous() const {
    return fragment_.packed() == 1 || fragment_.by_columns == (fragment_.matrix == 'b');
  }

  llvm::Value* load_at(unsigned slot, unsigned element, llvm::Type* type) {
    return tag(lifter_,
               lifter_.ir().CreateAlignedLoad(type, pointer(slot, element),
                                              llvm::Align(type->getIntegerBitWidth() / 8)));
  }

  // position() is where the lane's element `number` of a slot lies.
  Position position(unsigned slot, unsigned number) {
    llvm::IRBuilder<>& ir = lifter_.ir();
    const unsigned packed = fragment_.packed();
    const auto along = [&](llvm::Value* index, unsigned factor, unsigned plus) {
      return ir.CreateAdd(ir.CreateMul(index, ir.getInt32(factor)), ir.getInt32(plus));
    };
    if (fragment_.matrix == 'c') {
      const unsigned pair = packed == 2 ? slot : slot / 2;
      const unsigned in_pair = packed == 2 ? number : slot % 2;
      const unsigned tiles = fragment_.shape.m / 8;
      return {along(group_, 1, 8 * (pair % tiles)),
              along(quarter_, 2, 8 * (pair / tiles) + in_pair)};
    }
    if (fragment_.matrix == 'a') {
      const unsigned tiles = fragment_.shape.m / 8;
      return {along(group_, 1, 8 * (slot % tiles)),
              along(quarter_, packed, slot / tiles * 4 * packed + number)};
    }
    const unsigned tiles = fragment_.shape.k / (4 * packed);
    return {along(quarter_, packed, slot % tiles * 4 * packed + number),
            along(group_, 1, 8 * (slot / tiles))};
  }

  llvm::Value* pointer(unsigned slot, unsigned element) {
    llvm::IRBuilder<>& ir = lifter_.ir();
    const Position at = position(slot, element);
    const auto wide = [&](llvm::Value* index) { return ir.CreateZExt(index, ir.getInt64Ty()); };
    llvm::Value* outer = wide(fragment_.by_columns ? at.column : at.row);
    llvm::Value* inner = wide(fragment_.by_columns ? at.row : at.column);
    llvm::Value* index = ir.CreateAdd(ir.CreateMul(outer, stride_), inner);
    const unsigned bits = fragment_.element_bits();
    llvm::Value* bytes = bits >= 8 ? ir.CreateMul(index, ir.getInt64(bits / 8))
                                   : ir.CreateUDiv(index, ir.getInt64(8 / bits));
    MemoryPlace place = place_;
    if (place.address == nullptr) return ir.CreatePtrAdd(pointer_at(lifter_, place, 0), bytes);
    place.address =
        ir.CreateAdd(place.address, ir.CreateZExtOrTrunc(bytes, place.address->getType()));
    return pointer_at(lifter_, place, 0);
  }

  InstructionLifter& lifter_;
  const Fragment& fragment_;
  MemoryPlace place_;
  llvm::Value* group_ = nullptr;    // the lane's number divided by 4
  llvm::Value* quarter_ = nullptr;  // and what is left
  llvm::Value* stride_ = nullptr;
};

Fragment take_fragment(InstructionLifter& lifter, char matrix) {
  take_sync_aligned(lifter);
  Fragment fragment;
  fragment.matrix = matrix == 'd' ? 'c' : matrix;
  const auto layout = lifter.modifiers.take_any({"row", "col"});
  if (!layout) lifter.refuse_invalid("its layout is missing");
  fragment.by_columns = *layout == "col";
  fragment.shape = take_shape(lifter);
  return fragment;
}

// An accumulator's slots depend on its own type, but the operation's on that of A.
void set_element(Fragment& fragment, Element element) {
  fragment.element = element;
  set_shape(fragment.operation, fragment.shape);
  fragment.operation.a = fragment.operation.b = element;
}

bool is_accumulator(Element element) {
  return element == Element::f16 || element == Element::f32 || element == Element::f64 ||
         element == Element::s32;
}

StateSpace take_fragment_space(InstructionLifter& lifter) {
  const StateSpace space = take_space(lifter);
  if (space != StateSpace::none && space != StateSpace::shared && space != StateSpace::global) {
    lifter.refuse_invalid("a matrix lies in global or shared memory");
  }
  return space;
}

void refuse_unknown(InstructionLifter& lifter, const Fragment& fragment) {
  const bool known = fragment.matrix == 'c' ? is_accumulator(fragment.element)
                                            : has_wmma(fragment.shape, fragment.element);
  if (!known) lifter.refuse_unsupported("its type and shape do not belong together");
  const bool natural = fragment.by_columns == (fragment.matrix == 'b');
  if (fragment.matrix != 'c' && fragment.element_bits() < 8 && !natural) {
    lifter.refuse_invalid("A lies by rows and B by columns where elements are smaller than bytes");
  }
}

void lift_load(InstructionLifter& lifter) {
  const auto matrix = lifter.modifiers.take_any({"a", "b", "c"});
  if (!matrix) lifter.refuse_invalid("its matrix is missing");
  Fragment fragment = take_fragment(lifter, matrix->front());
  const StateSpace space = take_fragment_space(lifter);
  set_element(fragment, take_element(lifter));
  refuse_unknown(lifter, fragment);
  wait_for_warp(lifter);
  FragmentMemory memory(lifter, fragment, 1, 2, space);
  std::vector<llvm::Value*> slots;
  for (unsigned i = 0; i < fragment.slots(); ++i)
    slots.push_back(memory.load(i));
  write_slots(lifter, 0, fragment.operation, slots);
}

void lift_store(InstructionLifter& lifter) {
  if (!lifter.modifiers.take("d")) lifter.refuse_invalid("its matrix is missing");
  Fragment fragment = take_fragment(lifter, 'd');
  const StateSpace space = take_fragment_space(lifter);
  set_element(fragment, take_element(lifter));
  refuse_unknown(lifter, fragment);
  wait_for_warp(lifter);
  FragmentMemory memory(lifter, fragment, 0, 2, space);
  std::vector<llvm::Value*> slots;
  read_slots(lifter, 1, fragment.slots(), fragment.operation, slots);
  for (unsigned i = 0; i < fragment.slots(); ++i)
    memory.store(i, slots[i]);
}

// The types of wmma.mma: D and C alone where A and B are f16, else D, A, B and C.
void take_types(InstructionLifter& lifter, Operation& operation) {
  operation.d = take_element(lifter);
  const Element second = take_element(lifter);
  if ((second == Element::f16 || second == Element::f32) &&
      (operation.d == Element::f16 || operation.d == Element::f32)) {
    operation.a = operation.b = Element::f16;
    operation.c = second;
    return;
  }
  operation.a = second;
  operation.b = take_element(lifter);
  operation.c = take_element(lifter);
}

void lift_multiply(InstructionLifter& lifter) {
  Modifiers& modifiers = lifter.modifiers;
  Operation operation;
  // Bits are combined by an operation that is written before .sync.
  const auto bits = modifiers.take_any({"xor", "and"});
  if (bits && !modifiers.take("popc")) lifter.refuse_invalid("it needs .popc");
  if (bits == "and") operation.flags |= matrix_call::ands;
  take_sync_aligned(lifter);
  // Fragments lie alike however they were loaded.
  if (!modifiers.take_first({"row", "col"}) || !modifiers.take_first({"row", "col"})) {
    lifter.refuse_invalid("a layout is missing");
  }
  const MatrixShape shape = take_shape(lifter);
  set_shape(operation, shape);
  take_types(lifter, operation);
  if (!has_wmma(shape, operation.a)) {
    lifter.refuse_unsupported("its types and shape do not belong together");
  }
  if (operation.a == Element::f64) modifiers.take("rn");
  if (modifiers.take("satfinite")) operation.flags |= matrix_call::saturates;
  multiply(lifter, operation);
}

}  // namespace

void lift_wmma(InstructionLifter& lifter) {
  if (lifter.modifiers.take("load")) return lift_load(lifter);
  if (lifter.modifiers.take("store")) return lift_store(lifter);
  if (!lifter.modifiers.take("mma")) lifter.refuse_invalid("it needs .load, .store or .mma");
  if (lifter.operand_count() != 4) lifter.refuse_invalid("it has four operands");
  lift_multiply(lifter);
}

}  // namespace sluice::ptx::lift_detail
