// Kernels whose every access is affine or nearly so: the footprint is what the threads touch, byte
// for byte.
#include <gtest/gtest.h>

#include "footprint_oracle.hpp"

namespace sluice::analysis::testing {
namespace {

TEST(ExactFootprints, Stencil) {
  for (int n : {1, 3, 13, 16}) {
    expect_exact("stencil", {4, 4}, {4, 4}, {uint64_t(n)}, [n](Thread& t) {
      const int x = t.x(), y = t.y();
      if (x < 1 || x >= n - 1 || y < 1 || y >= n - 1) return;
      const int i = y * n + x;
      for (int j : {i, i - 1, i + 1, i - n, i + n})
        t.read(0, j);
      t.write(1, i);
    });
  }
}

TEST(ExactFootprints, StencilOfThreeDimensions) {
  expect_exact("stencil3d", {3, 3, 2}, {4, 2, 3}, {10, 6, 5}, [](Thread& t) {
    const int x = t.x(), y = t.y(), z = t.z();
    if (x < 1 || y < 1 || z < 1 || x >= 9 || y >= 5 || z >= 4) return;
    const int i = (z * 6 + y) * 10 + x;
    for (int j : {i, i - 1, i + 1, i - 10, i + 10, i - 60, i + 60})
      t.read(0, j);
    t.write(1, i);
  });
}

TEST(ExactFootprints, ElementByElement) {
  expect_exact("scale", {4}, {8}, {30}, [](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, t.x());
    t.write(1, t.x());
  });
  expect_exact("vector_copy", {4}, {8}, {30}, [](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, t.x(), 16);
    t.write(1, t.x(), 16);
  });
}

TEST(ExactFootprints, MatrixProduct) {
  constexpr int m = 10, n = 9, k = 7;
  expect_exact("gemm", {3, 3}, {4, 4}, {m, n, k}, [](Thread& t) {
    const int row = t.y(), column = t.x();
    if (row >= m || column >= n) return;
    for (int i = 0; i < k; ++i) {
      t.read(0, row * k + i);
      t.read(1, i * n + column);
    }
    t.write(2, row * n + column);
  });
}

TEST(ExactFootprints, TiledMatrixProduct) {
  constexpr int n = 12, k = 8;
  expect_exact("tiled_gemm", {3, 3}, {4, 4}, {n, k}, [](Thread& t) {
    const int row = t.y(), column = t.x();
    for (int base = 0; base < k; base += 4) {
      t.read(0, row * k + base + int(t.thread.x));
      t.read(1, (base + int(t.thread.y)) * n + column);
    }
    t.write(2, row * n + column);
  });
}

TEST(ExactFootprints, TransposeThroughSharedMemory) {
  constexpr int width = 11, height = 9;
  expect_exact("transpose", {3, 3}, {4, 4}, {width, height}, [](Thread& t) {
    int x = int(t.block.x * 4 + t.thread.x), y = int(t.block.y * 4 + t.thread.y);
    if (x < width && y < height) t.read(0, y * width + x, 8);
    x = int(t.block.y * 4 + t.thread.x);
    y = int(t.block.x * 4 + t.thread.y);
    if (x < height && y < width) t.write(1, y * height + x, 8);
  });
}

TEST(ExactFootprints, DivisionsAndRemainders) {
  const Model model = [](Thread& t) {
    const int i = t.x();
    if (i >= 30) return;
    t.read(0, i);
    t.write(1, (i % 10) * 10 + i / 10);
  };
  expect_exact("divide_index", {4}, {8}, {30}, model);
  expect_exact("divide_by_scalar", {4}, {8}, {30, 10}, model);
}

TEST(ExactFootprints, MasksAndShifts) {
  expect_exact("mask_index", {4}, {32}, {100}, [](Thread& t) {
    const int i = t.x();
    if (i >= 100) return;
    t.read(0, (i & 15) + (i >> 4) * 32);
    t.write(1, i);
  });
}

TEST(ExactFootprints, OneOfTwoIndices) {
  expect_exact("choose_index", {4}, {8}, {30}, [](Thread& t) {
    const int i = t.x();
    if (i >= 30) return;
    t.read(0, i % 3 == 0 ? 2 * i : 100 - i);
    t.write(1, t.thread.x < 5 ? i : i + 200);
  });
}

TEST(ExactFootprints, DivisionsOfBothSignsAndInNarrowTypes) {
  expect_exact("divide_signed", {4}, {8}, {30, 5, 7}, [](Thread& t) {
    const int i = t.x();
    if (i >= 30) return;
    t.read(0, (((i - 12) / 5 * 30 + 100) >> 3) + (17 * i + 5) % 7);
    t.write(1, i);
  });
}

TEST(ExactFootprints, ClampedNeighbours) {
  expect_exact("clamp_edges", {4}, {8}, {30}, [](Thread& t) {
    const int i = t.x();
    if (i >= 30) return;
    t.read(0, std::max(i - 1, 0));
    t.read(0, std::min(i + 1, 29));
    t.write(1, i);
  });
}

TEST(ExactFootprints, GridStrideLoop) {
  for (int n : {0, 1, 31, 100}) {
    expect_exact("grid_stride", {4}, {8}, {uint64_t(n)}, [n](Thread& t) {
      for (int i = t.x(); i < n; i += 32) {
        t.read(0, n - 1 - i);
        t.write(1, i);
      }
    });
  }
}

TEST(ExactFootprints, StructsByValue) {
  const KernelSignature& signature = analysis_of("image_gain").signature();
  ASSERT_EQ(signature.pointers.size(), 2u);
  EXPECT_EQ(signature.pointers[0].offset, 0u);
  EXPECT_EQ(signature.pointers[1].offset, 24u);
  expect_exact("image_gain", {3, 3}, {4, 4}, {11, 9, 13}, [](Thread& t) {
    if (t.x() >= 11 || t.y() >= 9) return;
    t.read(0, t.y() * 11 + t.x());
    t.write(1, t.y() * 13 + t.x());
  });
}

TEST(ExactFootprints, PointerPlusSizeArgument) {
  expect_exact("shift_bytes", {4}, {8}, {100, 30}, [](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, 100 + t.x(), 1);
    t.write(1, t.x(), 1);
  });
}

TEST(ExactFootprints, SharedMemoryAndShuffles) {
  expect_exact("block_sums", {4}, {32}, {}, [](Thread& t) {
    t.read(0, t.x());
    if (t.thread.x == 0) t.write(1, t.block.x);
  });
}

TEST(ExactFootprints, FunctionsAreLookedInto) {
  expect_exact("calls_helper", {4}, {8}, {30}, [](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, t.x());
    t.read(0, t.x() + 1);
    t.write(1, t.x());
  });
}

TEST(ExactFootprints, VariablesOfTheModuleAreBuffers) {
  const auto& pointers = analysis_of("module_variable").signature().pointers;
  ASSERT_EQ(pointers.size(), 2U);
  EXPECT_FALSE(pointers[0].is_variable);
  EXPECT_TRUE(pointers[1].is_variable);
  EXPECT_EQ(pointers[1].name, "counter");
  expect_exact("module_variable", {4}, {8}, {}, [](Thread& t) {
    t.write(0, t.x());
    t.write(1, 0);
  });
}

TEST(ExactFootprints, ConstantMemoryIsNoAccess) {
  expect_exact("constant_weights", {4}, {8}, {30}, [](Thread& t) {
    const int i = t.x();
    if (i < 1 || i >= 29) return;
    for (int k = -1; k <= 1; ++k)
      t.read(0, i + k);
    t.write(1, i);
  });
}

TEST(ExactFootprints, LoopsOnDataThatTouchNothing) {
  expect_exact("escape_time", {4}, {8}, {30}, [](Thread& t) {
    if (t.x() < 30) t.write(0, t.x());
  });
}

TEST(ExactFootprints, BranchesOnScalarsAreTaken) {
  for (int mode : {0, 1}) {
    expect_exact("two_parts", {4}, {8}, {30, uint64_t(mode)}, [mode](Thread& t) {
      if (t.x() < 30) t.write(0, mode == 0 ? t.x() : 2 * t.x());
    });
  }
}

TEST(ExactFootprints, LoopsOverPointers) {
  expect_exact("walk_pointer", {4}, {8}, {5, 40}, [](Thread& t) {
    for (int j = 0; j < 5; ++j)
      t.read(0, t.x() + 40 * j);
    t.write(1, t.x());
  });
}

TEST(ExactFootprints, NegativeOffsets) {
  expect_exact("wrap_around", {4}, {8}, {uint64_t(uint32_t(-3)), 5},
               [](Thread& t) { t.write(0, -3 * t.x() + 5); });
}

}  // namespace
}  // namespace sluice::analysis::testing
