// ldmatrix, stmatrix and movmatrix: 8 x 8 matrices of 16-bit elements between rows and fragments.
#include <array>
#include <cstring>

#include "hostcuda/jit/warp/matrix_operations.hpp"

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): places in one warp's matrices
namespace sluice::hostcuda::jit {
namespace {

using namespace ptx::matrix_call;

// Matrix is one 8 x 8 matrix of 16-bit elements.
using Matrix = std::array<std::array<uint16_t, tile>, tile>;

Matrix transpose_of(const Matrix& matrix) {
  Matrix result;
  for (unsigned row = 0; row < tile; ++row) {
    for (unsigned column = 0; column < tile; ++column)
      result[column][row] = matrix[row][column];
  }
  return result;
}

// A fragment in registers is the matrix by rows, 4 bytes a lane.
}  // namespace

void spread_rows(const Operation& operation, const WarpSlots& slots) {
  for (unsigned number = 0; number < operation.matrices; ++number) {
    Matrix matrix;
    for (unsigned row = 0; row < tile; ++row) {
      for (unsigned word = 0; word < 4; ++word) {
        const uint32_t elements = word_at(slots, word, tile * number + row);
        std::memcpy(&matrix[row][2 * word], &elements, 4);
      }
    }
    if (operation.has(transposed)) matrix = transpose_of(matrix);
    std::memcpy(slots.slot(4 + number), &matrix, sizeof(matrix));
  }
}

void gather_rows(const Operation& operation, const WarpSlots& slots) {
  for (unsigned number = 0; number < operation.matrices; ++number) {
    Matrix matrix;
    std::memcpy(&matrix, slots.slot(number), sizeof(matrix));
    if (operation.has(transposed)) matrix = transpose_of(matrix);
    for (unsigned row = 0; row < tile; ++row) {
      for (unsigned word = 0; word < 4; ++word) {
        uint32_t elements = 0;
        std::memcpy(&elements, &matrix[row][2 * word], 4);
        set_word(slots, operation.matrices + word, tile * number + row, elements);
      }
    }
  }
}

void transpose_registers(const WarpSlots& slots) {
  Matrix matrix;
  std::memcpy(&matrix, slots.slot(0), sizeof(matrix));
  matrix = transpose_of(matrix);
  std::memcpy(slots.slot(1), &matrix, sizeof(matrix));
}

}  // namespace sluice::hostcuda::jit
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
