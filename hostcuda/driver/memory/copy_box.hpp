// Boxes of memory that are copied or filled.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::hostcuda {

class BlockPool;

// Where one side of a copy lies. `unified` is an address that says for itself: memory of the
// device if the allocation table has it, else the program's own.
enum class Side { host, device, unified };

struct CopySide {
  uintptr_t address = 0;  // of the box's first byte
  size_t pitch = 0;       // bytes from row to row
  size_t slice = 0;       // bytes from plane to plane
  Side side = Side::unified;
};

// Copy is a box of bytes: width bytes a row, height rows a plane, depth planes. Rows may be longer
// than the pitch only where there is a single row.
struct Copy {
  CopySide destination;
  CopySide source;
  size_t width = 0;
  size_t height = 1;
  size_t depth = 1;

  bool is_empty() const { return width == 0 || height == 0 || depth == 0; }
};

// Fill is a box of elements of 1, 2 or 4 bytes that all get one value.
struct Fill {
  uintptr_t address = 0;
  size_t pitch = 0;  // bytes from row to row
  uint32_t value = 0;
  size_t element_bytes = 1;
  size_t width = 0;  // elements
  size_t height = 1;
};

// perform() does it at once, on the calling thread, and by the pool's threads where there is one
// and the box is large.
void perform(const Copy& copy, BlockPool* pool = nullptr);
void perform(const Fill& fill, BlockPool* pool = nullptr);

// CopyListener hears of what perform() has done, on its thread.
class CopyListener {
 public:
  virtual ~CopyListener() = default;
  virtual void copied(const Copy& copy) = 0;
  virtual void filled(const Fill& fill) = 0;
};
void listen_to_copies(CopyListener* listener);

}  // namespace sluice::hostcuda
