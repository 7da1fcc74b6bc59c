#include "runtime/launch/transfer.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/number/divide_up.hpp"

namespace sluice::runtime {
namespace {

using Kind = Transfer::Kind;
using Parameters = TransferLaunch::Parameters;

// A page, or so much that a transfer makes no more blocks than a large kernel has.
constexpr uint64_t least_piece = 4096;
constexpr uint64_t most_pieces = 16384;
// A block counts as so many threads where tasks are cut that were not measured yet.
constexpr uint32_t threads_of_a_block = 256;
constexpr uint64_t most_rows = 65535;  // CUDA's limit of grid.y

// The address of each is the handle of its kernel.
const char names[2][16] = {"device-copy", "device-memset"};

bool overlap(const Transfer& copy) {
  return copy.to < copy.from + copy.from_extent() && copy.from < copy.to + copy.to_extent();
}

// together() is the same transfer with rows that lie side by side as one.
Transfer together(Transfer transfer) {
  const bool is_row = transfer.rows == 1 ||
                      (transfer.to_pitch == transfer.row_bytes &&
                       (transfer.kind == Kind::fill || transfer.from_pitch == transfer.row_bytes));
  if (!is_row) return transfer;
  transfer.row_bytes *= transfer.rows;
  transfer.rows = 1;
  transfer.to_pitch = transfer.from_pitch = 0;
  return transfer;
}

bool fits_pitch(const Transfer& transfer, uint64_t pitch) {
  uint64_t extent = 0;
  return (transfer.rows == 1 || pitch >= transfer.row_bytes) &&
         !__builtin_mul_overflow(transfer.rows, std::max(pitch, transfer.row_bytes), &extent) &&
         extent < (uint64_t{1} << 48U);
}

// pieces() calls `call(first byte, bytes)` for the pieces of some blocks, those of one row that lie
// side by side at once.
template <class Call>
void pieces(const SluiceBlockLaunch& launch, const Parameters& p, uint32_t first, uint32_t count,
            Call&& call) {
  while (count > 0) {
    const uint32_t row = first / launch.grid[0];
    const uint32_t column = first % launch.grid[0];
    const uint32_t here = std::min(count, launch.grid[0] - column);
    const uint64_t begin = column * p.piece_bytes;
    const uint64_t end = std::min(p.row_bytes, (uint64_t{column} + here) * p.piece_bytes);
    call(row, begin, end - begin);
    first += here;
    count -= here;
  }
}

Parameters read(const void* block) {
  Parameters parameters;
  std::memcpy(&parameters, block, sizeof parameters);
  return parameters;
}

void run_copy(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count, void* /*scratch*/) {
  const Parameters p = read(launch->parameters);
  pieces(*launch, p, first, count, [&p](uint64_t row, uint64_t begin, uint64_t bytes) {
    std::memcpy(reinterpret_cast<std::byte*>(p.to + row * p.to_pitch + begin),
                reinterpret_cast<const std::byte*>(p.from + row * p.from_pitch + begin), bytes);
  });
}

template <class Element>
void fill(uint64_t address, uint32_t value, uint64_t bytes) {
  std::fill_n(reinterpret_cast<Element*>(address), bytes / sizeof(Element),
              static_cast<Element>(value));
}

void run_fill(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count, void* /*scratch*/) {
  const Parameters p = read(launch->parameters);
  pieces(*launch, p, first, count, [&p](uint64_t row, uint64_t begin, uint64_t bytes) {
    const uint64_t address = p.to + row * p.to_pitch + begin;
    if (p.element_bytes == 1) {
      fill<uint8_t>(address, p.value, bytes);
    } else if (p.element_bytes == 2) {
      fill<uint16_t>(address, p.value, bytes);
    } else {
      fill<uint32_t>(address, p.value, bytes);
    }
  });
}

// Places of the shape's values.
enum ShapeValue { row_bytes, rows, to_pitch, from_pitch, piece_bytes };

// access() is through a pointer to rows that are `pitch` apart.
analysis::Access access(const analysis::LaunchShape& shape, uint64_t pitch) {
  const auto value = [&](ShapeValue which) {
    return static_cast<int64_t>(shape.shape_values[which]);
  };
  const auto apart = static_cast<int64_t>(pitch);
  const int64_t piece = value(piece_bytes);
  // The columns are 1, x, y, z and the byte.
  Relation::Piece bytes;
  bytes.equal.push_back({0, 0, 0, 1, 0});
  bytes.at_least = {{0, 1, 0, 0, 0},
                    {int64_t{shape.grid.x} - 1, -1, 0, 0, 0},
                    {0, 0, 1, 0, 0},
                    {int64_t{shape.grid.y} - 1, 0, -1, 0, 0},
                    {0, -piece, -apart, 0, 1},
                    {piece - 1, piece, apart, 0, -1},
                    {value(row_bytes) - 1, 0, apart, 0, -1}};
  return {.relation = {.parameters = 0, .pieces = {bytes}}, .reason = {}};
}

class TransferModel final : public KernelModel {
 public:
  explicit TransferModel(Kind kind) {
    signature_.kernel = transfer_name(kind);
    signature_.parameter_bytes = sizeof(Parameters);
    const auto slot = [](const char* name, size_t offset, size_t size = 8) {
      return analysis::ParameterSlot{name, static_cast<uint32_t>(offset),
                                     static_cast<uint32_t>(size)};
    };
    signature_.pointers = {slot("to", offsetof(Parameters, to))};
    if (kind == Kind::copy) signature_.pointers.push_back(slot("from", offsetof(Parameters, from)));
    signature_.shape_scalars = {slot("row_bytes", offsetof(Parameters, row_bytes)),
                                slot("rows", offsetof(Parameters, rows)),
                                slot("to_pitch", offsetof(Parameters, to_pitch)),
                                slot("from_pitch", offsetof(Parameters, from_pitch)),
                                slot("piece_bytes", offsetof(Parameters, piece_bytes))};
    signature_.parameters = signature_.pointers;
    signature_.parameters.insert(signature_.parameters.end(), signature_.shape_scalars.begin(),
                                 signature_.shape_scalars.end());
    signature_.parameters.push_back(slot("value", offsetof(Parameters, value), 4));
    signature_.parameters.push_back(slot("element_bytes", offsetof(Parameters, element_bytes), 4));
  }

  const analysis::KernelSignature& signature() const override { return signature_; }

  analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
    analysis::Footprint footprint{.kernel = signature_.kernel, .shape = shape};
    footprint.arguments.resize(signature_.pointers.size());
    footprint.arguments[0].must_writes = access(shape, shape.shape_values[to_pitch]);
    if (footprint.arguments.size() > 1)
      footprint.arguments[1].reads = access(shape, shape.shape_values[from_pitch]);
    return footprint;
  }

 private:
  analysis::KernelSignature signature_;
};

const char (&name_of(Kind kind))[16] {
  return names[kind == Kind::copy ? 0 : 1];
}

}  // namespace

bool is_simple(const Transfer& transfer) {
  if (transfer.row_bytes == 0 || transfer.rows == 0) return false;
  if (!fits_pitch(transfer, transfer.to_pitch)) return false;
  if (transfer.kind == Kind::fill) {
    const uint64_t element = transfer.element_bytes;
    if (transfer.to % element != 0 || transfer.row_bytes % element != 0) return false;
    if (transfer.rows > 1 && transfer.to_pitch % element != 0) return false;
  } else if (!fits_pitch(transfer, transfer.from_pitch) || overlap(transfer)) {
    return false;
  }
  return together(transfer).rows <= most_rows;
}

TransferLaunch::TransferLaunch(const Transfer& asked) {
  const Transfer transfer = together(asked);
  const uint64_t piece =
      std::max(least_piece, std::bit_ceil(divide_up(transfer.row_bytes, most_pieces)));
  parameters_ = {.to = transfer.to,
                 .from = transfer.from,
                 .row_bytes = transfer.row_bytes,
                 .rows = transfer.rows,
                 .to_pitch = transfer.to_pitch,
                 .from_pitch = transfer.from_pitch,
                 .piece_bytes = piece,
                 .value = transfer.value,
                 .element_bytes = transfer.element_bytes};
  // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
  extra_[0] = reinterpret_cast<void*>(1);
  extra_[1] = &parameters_;
  extra_[2] = reinterpret_cast<void*>(2);
  extra_[3] = &bytes_;
  extra_[4] = nullptr;
  call_ = {.function = transfer_function(transfer.kind),
           .grid = {static_cast<uint32_t>(divide_up(transfer.row_bytes, piece)),
                    static_cast<uint32_t>(transfer.rows), 1},
           .block = {threads_of_a_block, 1, 1},
           .stream = transfer.stream,
           .extra = extra_};
}

std::optional<Transfer> transfer_of(const LaunchCall& call) {
  const bool is_copy = call.function == transfer_function(Kind::copy);
  if (!is_copy && call.function != transfer_function(Kind::fill)) return std::nullopt;
  const Parameters p = read(call.extra[1]);
  return Transfer{.kind = is_copy ? Kind::copy : Kind::fill,
                  .to = p.to,
                  .from = p.from,
                  .row_bytes = p.row_bytes,
                  .rows = p.rows,
                  .to_pitch = p.to_pitch,
                  .from_pitch = p.from_pitch,
                  .value = p.value,
                  .element_bytes = p.element_bytes,
                  .stream = call.stream};
}

void* transfer_function(Kind kind) {
  return const_cast<char*>(name_of(kind));
}

const char* transfer_name(Kind kind) {
  return name_of(kind);
}

std::unique_ptr<KernelModel> transfer_model(Kind kind) {
  return std::make_unique<TransferModel>(kind);
}

SluiceBlockCode transfer_code(Kind kind) {
  return {kind == Kind::copy ? run_copy : run_fill, 0, 0};
}

}  // namespace sluice::runtime
