#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

// A tile's row is 32 bytes of halves or 64 of floats; the lanes share its bytes among them.
void wmma_tile(Thread& t) {
  const int row = int(t.thread.x) / 2;
  const int part = int(t.thread.x) % 2;
  for (int i = 0; i < 16; ++i) {
    t.read(0, (int(t.block.y) * 16 + row) * 32 + part * 16 + i, 2);
    t.read(1, (int(t.block.x) * 16 + row) * 32 + part * 16 + i, 2);
  }
  for (int i = 0; i < 8; ++i)
    t.write(2, (int(t.block.y) * 16 + row) * 32 + int(t.block.x) * 16 + part * 8 + i);
}

}  // namespace

std::vector<KernelCase> matrix_cases() {
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  return {
      {"wmma_tile",
       {2, 2},
       {32},
       {buffer(2048), buffer(2048), buffer(4096)},
       {"reads exact", "reads exact", "writes exact"},
       wmma_tile},
      {"async_copy",
       {4},
       {32},
       {buffer(2048), buffer(2048)},
       copy,
       [](Thread& t) {
         t.read(0, t.x(), 16);
         t.write(1, t.x(), 16);
       }},
      {"async_copy_some",
       {4},
       {32},
       {buffer(2048), buffer(2048), scalar(100)},
       copy,
       [](Thread& t) {
         if (t.x() < 100) t.read(0, t.x(), 16);
         t.write(1, t.x(), 16);
       }},
      {"matrix_rows",
       {4},
       {32},
       {buffer(512), buffer(512)},
       copy,
       [](Thread& t) {
         t.read(0, t.x());
         t.write(1, t.x());
       }},
      {"memory_barrier",
       {4},
       {32},
       {buffer(512), buffer(512)},
       copy,
       [](Thread& t) {
         t.read(0, t.x());
         t.write(1, t.x());
       }},
  };
}

}  // namespace sluice::footprints
