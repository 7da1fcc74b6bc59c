// How lifted code asks for what the lanes of a warp do with matrices together: NVVM's intrinsics
// for it may be moved into divergent control flow, so the lifter calls functions of its own,
//   [n x iW] sluice.matrix.<operation>(iW...)
// one for each operation, whose name holds all of an Operation. W is 64 where elements are f64 and
// 32 elsewhere; a value is called a slot. An operation touches no memory. All 32 lanes take part.
//
// Fragments lie as the PTX manual gives them for mma.sync. With P elements in a slot, lane 4 g + t
// of an 8 x 4P tile of A holds row g, columns P t to P t + P - 1; of a 4P x 8 tile of B column g,
// rows P t to P t + P - 1. Slots follow the tiles, of A down the rows first, of B along k first. An
// 8 x 8 tile of C or D has columns 2 t and 2 t + 1 of row g, one slot each (one for both where they
// are f16). wmma's fragments, which PTX leaves open, lie the same way, as they do on sm_75 and
// later. mma.m8n8k4 of f16 multiplies four pairs of matrices, one for each pair of quads of lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace sluice::ptx::matrix_call {

enum class Kind : uint8_t {
  multiply,     // slots of A, B and C to those of D
  spread_rows,  // ldmatrix: lane 8 i + r brings the 16 bytes of row r of matrix i
  gather_rows,  // stmatrix, the way back: each lane gets 16 bytes
  transpose,    // movmatrix
};

enum class Element : uint8_t { f16, bf16, tf32, f32, f64, s8, u8, s4, u4, b1, s32 };

// Flags of an Operation.
inline constexpr uint8_t transposed = 1;     // ldmatrix.trans, stmatrix.trans
inline constexpr uint8_t saturates = 2;      // .satfinite
inline constexpr uint8_t ands = 4;           // of b1: and.popc; else xor.popc
inline constexpr uint8_t quad_pairs = 8;     // m8n8k4 of f16
inline constexpr uint8_t a_by_columns = 16;  // these two matter for quad pairs alone
inline constexpr uint8_t b_by_columns = 32;

struct Operation {
  uint16_t m = 8, n = 8, k = 8;
  Kind kind = Kind::multiply;
  Element a = Element::f16, b = Element::f16, c = Element::f16, d = Element::f16;
  uint8_t matrices = 1;  // of spread_rows and gather_rows
  uint8_t flags = 0;
  uint8_t reserved = 0;

  bool has(uint8_t flag) const { return (flags & flag) != 0; }
  bool operator==(const Operation&) const = default;
};
// An Operation is constant data of compiled code and part of a name, so it has no padding.
static_assert(sizeof(Operation) == 14 && std::has_unique_object_representations_v<Operation>);

inline constexpr unsigned warp_lanes = 32;

// elements_in_slot() is the P above; of C and D, 2 for f16 and 1 for others.
unsigned elements_in_slot(Element element);

// slot_bytes() is 8 where elements are f64, else 4.
unsigned slot_bytes(const Operation& operation);

// How many slots a lane holds of each matrix, and brings and gets in all.
unsigned a_slots(const Operation& operation);
unsigned b_slots(const Operation& operation);
unsigned accumulator_slots(const Operation& operation, Element element);  // C or D
unsigned input_slots(const Operation& operation);
unsigned result_slots(const Operation& operation);

inline constexpr std::string_view name_prefix = "sluice.matrix.";

// What accesses memory itself (ldmatrix, wmma.load, wmma.store) begins with void wait(), where the
// lanes of the warp wait for each other.
inline constexpr const char* wait_name = "sluice.warp.wait";

// name() is the function's name; parse() gives the operation back, none for other names.
std::string name(const Operation& operation);
std::optional<Operation> parse(std::string_view name);

}  // namespace sluice::ptx::matrix_call
